// A process that works on an order and dies inside a step, or in the wait after it. Started by killed.test.ts.
import { appendFileSync } from "node:fs";
import { sqliteHost } from "../sqlite.ts";
import { type OrderMoment, orderWorkflow } from "./order.fixture.ts";

const [, , path = "", effects = "", moment = ""] = process.argv;
const host = sqliteHost(path);
const order = orderWorkflow(host, (line, at) => {
	appendFileSync(effects, `${line}\n`);
	if (at === (moment as OrderMoment)) process.kill(process.pid, "SIGKILL");
});
const run = await order.session("order-7").send({ items: ["lamp", "desk", "chair"] });
await run.result();
