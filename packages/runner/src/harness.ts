// Entry point `@holdfast/runner/harness`: models and expectations for tests of agents.
export {
	type ExpectedAction,
	expectActions,
	type StubClient,
	type StubOptions,
	type StubPrompt,
	type StubReply,
	snapshot,
	stubClient,
} from "./harness/index.ts";
