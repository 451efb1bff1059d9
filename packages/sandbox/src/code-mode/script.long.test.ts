// Many random scripts, interrupted before each group of calls.
import { test } from "vitest";
import { interruptedScriptsAgree } from "./script-programs.fixture.ts";

test("interrupted scripts behave like undisturbed ones", () => interruptedScriptsAgree(400), 600_000);
