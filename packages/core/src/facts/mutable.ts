/** The same with members that may be set: of what is put together member by member. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
