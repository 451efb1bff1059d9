// Combines concurrent queries into one statement. A query that arrives while the maximum number of statements is in
// flight joins the next one, so that an answer is never older than its query (keeps I7).

/** Maximum number of statements in flight. */
const underWayAtMost = 2;
/** Maximum number of queries in a statement. */
const askedAtMost = 100;

interface Waiting<Question, Answer> {
	readonly question: Question;
	resolve(answer: Answer): void;
	reject(error: unknown): void;
}

/** Answers one query per call; `ask` answers many, in their order. */
export function together<Question, Answer>(
	ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
	let waiting: Waiting<Question, Answer>[] = [];
	let isScheduled = false;
	let underWay = 0;

	function schedule(): void {
		if (isScheduled || waiting.length === 0 || underWay >= underWayAtMost) return;
		isScheduled = true;
		// Queries of one turn are sent together.
		setImmediate(() => {
			isScheduled = false;
			void next();
		});
	}

	async function next(): Promise<void> {
		const asked = waiting.slice(0, askedAtMost);
		waiting = waiting.slice(askedAtMost);
		underWay++;
		schedule();
		try {
			const answers = await ask(asked.map(({ question }) => question));
			for (const [at, { resolve }] of asked.entries()) resolve(answers[at] as Answer);
		} catch (error) {
			for (const { reject } of asked) reject(error);
		}
		underWay--;
		schedule();
	}

	return (question) =>
		new Promise((resolve, reject) => {
			waiting.push({ question, resolve, reject });
			schedule();
		});
}
