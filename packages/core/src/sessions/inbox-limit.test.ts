// The limit of waiting inputs for one session.
import { join } from "node:path";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { inboxLimitCases } from "./inbox-limit.fixture.ts";

inboxLimitCases("memory", () => memoryHost());
inboxLimitCases("SQLite", () => sqliteHost(join(temporaryFolder(), "sessions.db")));
