// Changes that were approved, in a process that is killed at any call of the file system while it writes.
import { describe, test } from "vitest";
import { expectMadeOnce, lampProject } from "./lamp-project.fixture.ts";

const project = lampProject();
const draft = ".holdfast-";

describe("a process that is killed", () => {
	test.each([`open:before:${draft}`, `open:after:${draft}`, "rename:before", "rm:after"])(
		"at %s of the write leaves a complete file, and resume makes the approved change once",
		(moment) => expectMadeOnce(project, moment),
	);
});
