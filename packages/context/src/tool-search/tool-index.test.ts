import { describe, expect, test } from "vitest";
import { catalog } from "./catalog.fixture.ts";
import { queries } from "./queries.fixture.ts";
import { ToolIndex } from "./tool-index.ts";

const tools = catalog.map(({ name, description, parameters }) => ({
	name,
	description: String(description),
	parameters,
}));
const index = new ToolIndex(tools);

describe("the index of tools", () => {
	test("has the right tool among the first five for at least 95 % of 200 searches, and first for at least 80 %", () => {
		const places = queries.map(({ query, tools: wanted }) =>
			index.search(query, 5).findIndex(({ name }) => wanted.includes(name)),
		);
		const known = new Set(tools.map(({ name }) => name));
		expect(queries.flatMap((each) => each.tools).filter((name) => !known.has(name))).toEqual([]);
		expect(queries.length).toBeGreaterThanOrEqual(200);
		const missed = queries.filter((_, at) => places[at] === -1).map(({ query }) => query);
		expect(missed.length / queries.length, missed.join("\n")).toBeLessThanOrEqual(0.05);
		expect(places.filter((place) => place === 0).length / queries.length).toBeGreaterThanOrEqual(0.8);
	});

	test("finds tools by the words that people use, which their descriptions do not have", () => {
		const said: Readonly<Record<string, readonly string[]>> = {
			"raise a bug on github": ["github_create_issue"],
			"show the PR": ["github_get_pull_request", "github_list_pull_requests"],
			"land the PR": ["github_merge_pull_request"],
			"make my own copy of the repo": ["github_fork_repository"],
			"put a heart on the slack message": ["slack_add_reaction"],
			"tell the team on slack": ["slack_post_message"],
			"which people are in slack": ["slack_get_users"],
			"make a folder on disk": ["filesystem_create_directory"],
			"look at the picture": ["filesystem_read_media_file"],
			"press the login button": ["browser_click"],
			"visit a page": ["browser_navigate"],
			"grab the page as an image": ["browser_screenshot"],
			"attach a file in the browser": ["browser_file_upload"],
			"run javascript": ["browser_evaluate"],
			"dismiss the popup": ["browser_handle_dialog"],
			"route to the station": ["maps_directions"],
			"how high is the mountain": ["maps_elevation"],
			"more replicas in kubernetes": ["kubernetes_scale_deployment"],
			"erase a mail": ["gmail_delete_email"],
			"write a reply to the ticket in jira": ["jira_add_comment"],
		};
		const missed = Object.entries(said).flatMap(([query, wanted]) => {
			const found = index.search(query, 5).map(({ name }) => name);
			return found.some((name) => wanted.includes(name)) ? [] : [`${query}: ${found.join(", ")}`];
		});
		expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(2);
	});
});
