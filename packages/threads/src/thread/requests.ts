// Where requests that may be sent again are remembered: beside the thread that they are for.

/** The shelf of the requests to a thread. */
export function requestsShelf(storeKey: string): string {
	return `thread-requests ${storeKey}`;
}
