/** The same type with writable members, for objects that are built member by member. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
