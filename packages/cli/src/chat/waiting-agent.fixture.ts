// An agent whose provider is overloaded at first.
import { scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { Agent } from "holdfast";

const busy = { error: new UPPError("Busy.", "RATE_LIMITED", "scripted", "llm", 429) };
const waitMs = Number(process.env.HOLDFAST_TEST_WAIT_MS ?? 20);

export default new Agent({ model: scriptedModel([busy, "Here it is."]), modelWait: { firstMs: waitMs } });
