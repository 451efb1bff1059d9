// Door of the journal: facts, the port, and its in-memory twin.
export type * from "./fact.ts";
export type * from "./journal.ts";
