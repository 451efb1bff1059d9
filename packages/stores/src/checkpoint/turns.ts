// One at a time, in order, for each path: what several stores of one process do in the same folder never overlaps.
// It is kept by path and not by store because the folder is what they share.

const turns = new Map<string, Promise<void>>();

/** Runs a task when those given before for the same path have ended, however they ended. */
export function inTurn<Result>(path: string, task: () => Promise<Result>): Promise<Result> {
	const result = (turns.get(path) ?? Promise.resolve()).then(task);
	const over = (): void => {
		if (turns.get(path) === ended) turns.delete(path);
	};
	const ended: Promise<void> = result.then(over, over);
	turns.set(path, ended);
	return result;
}

/** The tasks under way or waiting whose path starts so; settles when they have ended, and never rejects. */
export function turnsBelow(prefix: string): Promise<void>[] {
	return [...turns].flatMap(([path, ended]) => (path.startsWith(prefix) ? [ended] : []));
}
