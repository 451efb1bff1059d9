// Writes the OpenAPI document from the table of routes.

import type { DescribedAnswer, Route } from "../http/index.ts";
import { statusByCode } from "../http/index.ts";
import { json, reference, schemas } from "./schemas.ts";

/** Codes that any route may answer. */
const common = [
	"invalid_request",
	"unauthorized",
	"host_not_allowed",
	"origin_not_allowed",
	"rate_limited",
	"internal_error",
	"journal_corrupt",
	"journal_newer",
];

/** Headers of a response that tells the client when to retry. */
const retryAfter = {
	"Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 1 } },
};

/** Returns the OpenAPI 3.1 document of some routes. */
export function openApiDocument(routes: readonly Route[]): object {
	const paths: Record<string, Record<string, object>> = {};
	for (const route of routes) {
		if (route.hidden === true || route.method === "ALL") continue;
		const path = route.path.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
		paths[path] ??= {};
		paths[path][route.method.toLowerCase()] = operationOf(route);
	}
	return {
		openapi: "3.1.0",
		info: {
			title: "Holdfast",
			version: "1",
			description:
				"Durable agent sessions: runs continue when their watcher leaves, and any watcher can resume.",
		},
		paths,
		components: {
			schemas,
			securitySchemes: {
				bearer: { type: "http", scheme: "bearer" },
				key: { type: "apiKey", in: "header", name: "X-API-Key" },
			},
		},
		security: [{ bearer: [] }, { key: [] }, {}],
	};
}

function operationOf(route: Route): object {
	const inPath = [...route.path.replace(/\*$/, ":path").matchAll(/:(\w+)/g)].map(([, name]) => ({
		in: "path",
		name,
		required: true,
		schema: { type: "string" },
	}));
	const parameters = [...inPath, ...(route.parameters ?? [])];
	return {
		operationId: route.name,
		summary: route.summary,
		...(parameters.length === 0 ? {} : { parameters }),
		...(route.body === undefined
			? {}
			: { requestBody: { required: true, content: { "application/json": { schema: route.body } } } }),
		responses: { ...answersOf(route), ...refusalsOf(route) },
	};
}

function answersOf({ answers }: Route): Record<string, object> {
	return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)]));
}

function refusalsOf({ method, errors = [], statuses = {} }: Route): Record<string, object> {
	const codes = [
		...errors,
		...Object.keys(statuses),
		...common,
		...(method === "POST" ? ["shutting_down"] : []),
	];
	const byStatus = new Map<number, string[]>();
	for (const code of new Set(codes)) {
		const status = statusByCode.get(code) ?? statuses[code] ?? 500;
		byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
	}
	return Object.fromEntries(
		[...byStatus].map(([status, names]) => {
			const described = json(
				`Refused: ${names.map((name) => `\`${name}\``).join(", ")}.`,
				reference("Error"),
			);
			return [String(status), { ...answerOf(described), ...(status === 429 ? { headers: retryAfter } : {}) }];
		}),
	);
}

function answerOf({ description, content = {} }: DescribedAnswer): object {
	const byType = Object.entries(content).map(([type, schema]) => [type, { schema }]);
	return { description, content: Object.fromEntries(byType) };
}
