// The limit of waiting inputs for one session on a bare store, which writes all of them with each new one.
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import { inboxLimitCases } from "./inbox-limit.fixture.ts";

inboxLimitCases("a bare store", () => createInMemoryExecutionHost());
