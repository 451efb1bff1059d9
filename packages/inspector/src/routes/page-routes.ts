// The routes of the page itself: a document, a script and a style sheet, the same for all users. The page requests its
// data.
import type { Exchange, Route } from "@holdfast/server";
import { type PageFile, pageFile } from "../assets/index.ts";
import { checkOpen } from "./route-parts.ts";

const files: readonly { readonly path: string; readonly file: PageFile; readonly type: string }[] = [
	{ path: "/", file: "index.html", type: "text/html; charset=utf-8" },
	{ path: "/inspector/app.js", file: "app.js", type: "text/javascript; charset=utf-8" },
	{ path: "/inspector/app.css", file: "app.css", type: "text/css; charset=utf-8" },
	{
		path: "/inspector/highlight.js",
		file: "highlight.js",
		type: "text/javascript; charset=utf-8",
	},
	{ path: "/inspector/icon.svg", file: "icon.svg", type: "image/svg+xml" },
];

/** The paths. */
export const pagePaths: readonly string[] = files.map(({ path }) => path);

/** Only the page's own script runs, and it sends requests only to its own server. */
const policy =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The routes. */
export function pageRoutes(): readonly Route[] {
	return files.map(({ path, file, type }) => ({
		method: "GET",
		path,
		name: `inspector-${file}`,
		summary:
			path === "/" ? "The inspector: a page that shows sessions as they run." : `The inspector's ${file}.`,
		answers: {
			200: { description: "The file.", content: { [type.split(";")[0] ?? type]: { type: "string" } } },
		},
		errors: ["inspector_closed"],
		async handle(exchange) {
			checkOpen(exchange);
			const { plain, gzipped, tag } = await pageFile(file);
			const headers = {
				"content-type": type,
				"content-security-policy": policy,
				"referrer-policy": "no-referrer",
				"cache-control": "no-cache",
				etag: tag,
				vary: "Accept-Encoding",
			};
			if (exchange.request.headers.get("if-none-match") === tag)
				return new Response(null, { status: 304, headers });
			if (!takesGzip(exchange)) return new Response(plain, { headers });
			return new Response(gzipped, { headers: { ...headers, "content-encoding": "gzip" } });
		},
	}));
}

function takesGzip({ request }: Exchange): boolean {
	return /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
}
