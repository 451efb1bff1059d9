import { manualTime, scriptedModel } from "@holdfast/testing";
import { type Host, memoryHost } from "holdfast";
import { type Journal, memoryJournal } from "holdfast/host";
import { expect, test } from "vitest";
import { says } from "./messages.fixture.ts";
import type { SessionService } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

/** Hosts of several processes over the same sessions. */
function sharedHosts() {
	const first = memoryJournal();
	const values = memoryHost().values;
	return (workerId: string) => {
		const journal = first.worker(workerId);
		const host: Host = { journal, values, close: async () => journal.close() };
		return { host, journal };
	};
}

/** Leaves unfinished runs of these sessions, like a process that dies in them. */
async function leave(hostOf: ReturnType<typeof sharedHosts>, workerId: string, ...sessionIds: string[]) {
	const { host, journal } = hostOf(workerId);
	const model = scriptedModel(() => ({ text: "never", gate: new Promise(() => {}) }));
	const dying = sessionService({ host, agent: { model } });
	for (const sessionId of sessionIds) await dying.submit("t", sessionId, { input: says("go"), context: {} });
	journal.die();
}

/** A service whose looks are counted, and time is made by hand. */
function looking({ host }: { readonly host: Host }, recoverEveryMs?: number) {
	const time = manualTime();
	const looks: Journal["list"][] = [];
	const list = host.journal.list.bind(host.journal);
	host.journal.list = (options) => {
		if (options?.state === "orphaned") looks.push(list);
		return list(options);
	};
	const model = scriptedModel(() => "Resumed.");
	const service = sessionService({
		host,
		agent: { model, ports: time.ports },
		...(recoverEveryMs === undefined ? {} : { recoverEveryMs }),
	});
	return { service, time, looks };
}

const isDone = (service: SessionService, sessionId: string) =>
	expect.poll(async () => (await service.get("t", sessionId))?.status).toBe("completed");

test.each([[undefined, 500] as const, [2_000, 2_000] as const])(
	"with recoverEveryMs %s a service searches for interrupted runs every %s ms, until it is closed",
	async (recoverEveryMs, every) => {
		const { service, time, looks } = looking(sharedHosts()("one"), recoverEveryMs);
		await service.supervise();
		for (let count = 1; count <= 4; count++) {
			await expect.poll(() => time.timers.size).toBe(1);
			expect(looks).toHaveLength(count);
			time.pass(every - 1);
			expect(looks).toHaveLength(count);
			time.pass(1);
		}
		await expect.poll(() => time.timers.size).toBe(1);
		await service.close();
		expect(time.timers.size).toBe(0);
	},
);

test("runs that a process leaves after the first search are resumed at the next", async () => {
	const hostOf = sharedHosts();
	const { service, time } = looking(hostOf("one"));
	await service.supervise();
	await leave(hostOf, "two", "late");
	expect((await service.get("t", "late"))?.status).toBe("running");
	time.pass(2_000);
	await isDone(service, "late");
	await service.close();
});

test("a failed search is followed by another", async () => {
	const hostOf = sharedHosts();
	const one = hostOf("one");
	const { service, time } = looking(one);
	await service.supervise();
	await leave(hostOf, "two", "late");
	const { list } = one.host.journal;
	one.host.journal.list = () => {
		throw new Error("the disk is away");
	};
	time.pass(2_000);
	await expect.poll(() => time.timers.size).toBe(1);
	one.host.journal.list = list;
	time.pass(2_000);
	await isDone(service, "late");
	await service.close();
});

test("an unreadable session delays none of the others", async () => {
	const hostOf = sharedHosts();
	await leave(hostOf, "two", "a-broken", "b-whole");
	const one = hostOf("one");
	const { values } = one.host;
	const host: Host = {
		...one.host,
		values: {
			...(values as NonNullable<Host["values"]>),
			values(place, owner) {
				const found = (values as NonNullable<Host["values"]>).values(place, owner);
				if (!place.endsWith("a-broken")) return found;
				return { ...found, get: () => Promise.reject(new Error("cannot be read")) };
			},
		},
	};
	const { service } = looking({ host });
	await service.supervise();
	await isDone(service, "b-whole");
	await service.close();
});

/** A host that is slow to find one value of its sessions. */
function slowToFind(name: string) {
	const { host } = sharedHosts()("one");
	const gate = Promise.withResolvers<void>();
	const values = host.values as NonNullable<Host["values"]>;
	const slow: Host = {
		...host,
		values: {
			...values,
			values(place, owner) {
				const found = values.values(place, owner);
				return {
					...found,
					get: (each) => (each === name ? gate.promise : Promise.resolve()).then(() => found.get(each)),
				};
			},
		},
	};
	return { host: slow, find: gate.resolve };
}

test("a service that closes accepts earlier requests, and rejects later ones", async () => {
	const { host, find } = slowToFind("session");
	const { service } = looking({ host });
	const early = service.submit("t", "early", { input: says("go"), context: {} });
	const closed = service.close({ drainMs: 60_000 });
	await expect(service.submit("t", "late", { input: says("go"), context: {} })).rejects.toMatchObject({
		code: "agent_closed",
	});
	find();
	expect((await early).created).toBe(true);
	await closed;
	await isDone(service, "early");
});

test("a request that was not accepted in time is rejected, and never starts", async () => {
	const { host, find } = slowToFind("request:k");
	const earlier = looking({ host }).service;
	await earlier.submit("t", "s", { input: says("go"), context: {} });
	await isDone(earlier, "s");
	await earlier.close();
	const model = scriptedModel(() => "Too late.");
	const service = sessionService({ host, agent: { model } });
	const asked = service.submit("t", "s", { input: says("continue") }, { idempotencyKey: "k" });
	const refused = expect(asked).rejects.toMatchObject({ code: "agent_closed" });
	await expect.poll(() => service.get("t", "s")).toBeDefined();
	await service.close();
	find();
	await refused;
	expect(model.requests).toHaveLength(0);
});
