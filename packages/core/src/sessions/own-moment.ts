// Where many sessions begin at once each begins in a moment of its own. Left to themselves they would go on in lockstep,
// promise by promise, and what all of them need on the way would be alive together: most of the time would go into
// collecting garbage.

/** Resolves when what others began before has come as far as it can without waiting for the world. */
export function ownMoment(): Promise<void> {
	return new Promise((resolve) => void setImmediate(resolve));
}
