------------------------------- MODULE MC_a_room -------------------------------
\* The scope a room of Shelf.
EXTENDS Shelf, TLC

CONSTANTS
    box0, box1

heavy_here ==
       box0 :> FALSE
    @@ box1 :> TRUE

follows_here ==
       <<box0, box0>> :> FALSE
    @@ <<box0, box1>> :> TRUE
    @@ <<box1, box0>> :> TRUE
    @@ <<box1, box1>> :> FALSE

================================================================================
