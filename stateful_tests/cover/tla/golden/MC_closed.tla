------------------------------- MODULE MC_closed -------------------------------
\* The scope closed of Shelf.
EXTENDS Shelf, TLC

CONSTANTS
    box0, box1

heavy_here == [k \in Box |-> TRUE]

follows_here ==
       <<box0, box0>> :> FALSE
    @@ <<box0, box1>> :> TRUE
    @@ <<box1, box0>> :> TRUE
    @@ <<box1, box1>> :> FALSE

\* What happens elsewhere: look, elapse.
NextHere ==
    \/ \E b \in Box : put(b)
    \/ take
    \/ switch_on

SpecHere == Init /\ [][NextHere]_vars

\* Fair is what happens here.
it_fills_here ==
       /\ WF_vars(switch_on)
       /\ \A b \in Box : SF_vars(put(b))
       /\ <>[][~take]_vars
    => ((end = 0) ~> (0 < end))

\* Fair is what happens here.
what_is_wanted_is_seen_here ==
    \A b \in Box :
        (b \in wanted) ~> (seen[b] \/ b \notin wanted)

================================================================================
