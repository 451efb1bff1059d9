// Remembers requests that may be sent again, with the thread that they concern.

/** Returns the shelf of the requests to a thread. */
export function requestsShelf(storeKey: string): string {
	return `thread-requests ${storeKey}`;
}
