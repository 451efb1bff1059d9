// A fault in a model's answer, which becomes a coded error.

export class Fault extends Error {
	constructor(what: string, expected: string) {
		super(`${what} should be ${expected}`);
	}
}
