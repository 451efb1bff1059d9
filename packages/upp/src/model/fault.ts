// What is wrong with a model's answer; the model door makes a coded error of it.

export class Fault extends Error {
	constructor(what: string, expected: string) {
		super(`${what} should be ${expected}`);
	}
}
