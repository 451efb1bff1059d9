// Entry `@holdfast/runner/harness`: models and expectations for tests of agents.
export {};
