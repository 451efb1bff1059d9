// The entry point of sqlite.
export { type DatabaseKind, openDatabase } from "./open-database.ts";
export { isBusy, isDamaged } from "./sqlite-errors.ts";
export { fromStored, toStored } from "./stored-text.ts";
