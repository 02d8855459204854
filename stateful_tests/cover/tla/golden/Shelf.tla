--------------------------------- MODULE Shelf ---------------------------------
\* Shelf: A shelf in a room.
\* Exported by rocketproof from shelf.py.
EXTENDS Naturals

CONSTANTS
    MaxAge,    \* the greatest number of Age
    Box,       \* What lies on the shelf.
    AnyBox,    \* the Box in a cell that means nothing
    MaxPlace,  \* the greatest number of Place
    None,      \* what a cell holds that holds nothing
    heavy,
    room,
    follows

\* Days since somebody looked.
Age == 0 .. MaxAge

\* Of the room.
Light == {"ON", "OFF"}

\* A place on the shelf.
Place == 0 .. MaxPlace

VARIABLES
    light,
    end,
    lies,
    under,
    wanted,
    near,
    seen,    \* a ghost: only properties read it
    age

vars == <<light, end, lies, under, wanted, near, seen, age>>

\* A condition that TLC does not split into its alternatives: one instance of an action is one
\* step.
Holds(condition) == condition = TRUE

\* Subtraction of naturals.
Monus(a, b) == IF b <= a THEN a - b ELSE 0

\* A cell of a table whose key may lie outside.
At(table, key, otherwise) == IF key \in DOMAIN table THEN table[key] ELSE otherwise

\* The greatest age stands for itself and all above it.
Capped(number, greatest) == IF number > greatest THEN greatest ELSE number

TypeOK ==
    /\ light \in Light
    /\ end \in Place
    /\ lies \in [Place -> Box \cup {None}]
    /\ under \in [Place -> Box]
    /\ wanted \in SUBSET Box
    /\ near \in [Box \X Place -> BOOLEAN]
    /\ seen \in [Box -> BOOLEAN]
    /\ age \in Age

ASSUME /\ heavy \in [Box -> BOOLEAN]
       /\ room \in Nat
       /\ follows \in [Box \X Box -> BOOLEAN]

--------------------------------------------------------------------------------
\* Behaviour

Init ==
    /\ end = 0
    /\ lies = [p \in Place |-> None]
    /\ under = [k \in Place |-> AnyBox]
    /\ wanted = {b \in Box : heavy[b]}
    /\ near = [b \in Box, p \in Place |-> FALSE]
    /\ seen = [b \in Box |-> FALSE]
    /\ age = 0
    /\ light \in Light
    /\ Holds(light = "ON" \/ light = "OFF")

\* Shelf#put; one step by one hand
\* A box is put behind the last; there may be no place.
put(b) ==
    /\ light = "ON"
    /\ Holds(heavy[b] \/ end < room)
    /\ end + 1 \in Place  \* stays in the scope
    /\ lies' = [lies EXCEPT ![end] = b]
    /\ under' = [under EXCEPT ![end] = b]
    /\ near' = [near EXCEPT ![b, end] = TRUE]
    /\ end' = end + 1
    /\ UNCHANGED <<light, wanted, seen, age>>

\* Shelf#take
\* The last box is taken away.
take ==
    /\ 0 < end
    /\ Holds(\A p \in Place : lies[p] = None \/ (\E b \in Box : near[b, p]))  \* only prunes the search
    /\ near' = [b \in Box, k \in Place |-> IF k = Monus(end, 1) THEN FALSE ELSE near[b, k]]
    /\ lies' = [lies EXCEPT ![Monus(end, 1)] = None]
    /\ under' = [under EXCEPT ![Monus(end, 1)] = AnyBox]
    /\ end' = Monus(end, 1)
    /\ UNCHANGED <<light, wanted, seen, age>>

\* eyes; done by the world
\* Somebody looks for a box and what follows it.
look(b, p) ==
    /\ b \in wanted
    /\ lies[p] = b
    /\ light # "OFF"
    /\ seen' = [[c \in Box |-> seen[c] \/ follows[b, c]] EXCEPT ![b] = TRUE]
    /\ wanted' = wanted \ {b}
    /\ age' = 0
    /\ UNCHANGED <<light, end, lies, under, near>>

\* time; done by the world
\* Days pass; on the second the light changes, and everything is wanted again.
elapse(age_2) ==
    /\ 0 < age_2
    /\ wanted' = (IF age = 1
                  THEN {b \in Box : heavy[b]}
                  ELSE IF age < 1 THEN wanted ELSE {})
    /\ light' = (IF light = "ON" /\ age <= 1 THEN "ON" ELSE "OFF")
    /\ age' = Capped(age + age_2, MaxAge)
    /\ UNCHANGED <<end, lies, under, near, seen>>

\* a switch; done by the world
\* Light again.
switch_on ==
    /\ light' = "ON"
    /\ UNCHANGED <<end, lies, under, wanted, near, seen, age>>

Next ==
    \/ \E b \in Box : put(b)
    \/ take
    \/ \E b \in Box, p \in Place : look(b, p)
    \/ \E age_2 \in Age : elapse(age_2)
    \/ switch_on

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------
\* Premises under which properties are proved

\* No box is light.
all_are_heavy == \A b \in Box : heavy[b]

\* The room is closed.
\* never_look: no step is look.

--------------------------------------------------------------------------------
\* Invariants

\* A box is near the place where it lies.
\* Proved under: all_are_heavy, never_look.
what_lies_there_is_near ==
    \A b \in Box, p \in Place : lies[p] = b => near[b, p] /\ under[p] = b

\* Nobody ever sees a box.
\* Expected: violated (H-1).
nothing_is_seen == \A b \in Box : ~seen[b]

--------------------------------------------------------------------------------
\* Invariants that support proofs

\* What lies on the shelf lies before its end.
places_are_taken_in_order ==
    (\A p \in Place : lies[p] # None <=> p < end) /\ At(lies, end + 1, None) = None

--------------------------------------------------------------------------------
\* True of every step

\* No step adds or takes two boxes.
the_end_moves_by_one == [][(end' <= end + 1 /\ end <= end' + 1)]_vars

--------------------------------------------------------------------------------
\* Reachable: TLC has to refute that they are never true

\* There is no place left.
the_shelf_is_full == end = room
never_the_shelf_is_full == ~the_shelf_is_full

--------------------------------------------------------------------------------
\* Liveness

\* An empty shelf has a box at last, if nobody takes any and it does not get dark again.
it_fills ==
       /\ WF_vars(switch_on)
       /\ \A b \in Box : SF_vars(put(b))
       /\ <>[][~take]_vars
       /\ <>[][~(\E age_2 \in Age : elapse(age_2))]_vars
    => ((end = 0) ~> (0 < end))

\* A box that is wanted is seen at last, or wanted no more.
\* Expected: violated (H-2).
what_is_wanted_is_seen ==
       /\ \A b \in Box, p \in Place : WF_vars(look(b, p))
    => (\A b \in Box :
            (b \in wanted) ~> (seen[b] \/ b \notin wanted))

================================================================================
