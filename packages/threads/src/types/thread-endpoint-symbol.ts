// Marks a thread endpoint, including one created by another installed copy of this package.

/** The property that holds the handler of a thread endpoint. */
export const THREAD_ENDPOINT_SYMBOL: unique symbol = Symbol.for("holdfast.thread-endpoint");
