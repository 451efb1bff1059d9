// The models that the server has by name: those of a project with their providers, or those that a fork may choose.
import type { JSX } from "preact";
import { about, areThreads } from "./about.ts";
import { useAnswer } from "./entry-details.tsx";
import { Scrolls } from "./scrolls.tsx";

/** A model as the list of a project shows it. */
export interface ListedModel {
	readonly name: string;
	readonly model?: string;
	readonly provider?: string;
	readonly fallbacks?: readonly string[];
	readonly capabilities?: Readonly<Record<string, unknown>>;
	/** Set if its provider could not be created or did not respond. */
	readonly failed?: true;
}

/** Returns the cells of each model: name, provider's model, provider, capabilities, fallbacks. */
export function modelRows(models: readonly ListedModel[]): readonly (readonly string[])[] {
	return models.map(({ name, model = "", provider = "", fallbacks = [], capabilities = {}, failed }) => [
		name,
		model,
		failed === true ? `${provider === "" ? "its provider" : provider} does not respond` : provider,
		Object.entries(capabilities)
			.flatMap(([can, value]) =>
				value === true ? [words(can)] : typeof value === "number" ? [`${words(can)} ${value}`] : [],
			)
			.join(", "),
		fallbacks.join(", "),
	]);
}

/** Writes the name of a capability in words: `supportsImages` becomes `images`. */
function words(name: string): string {
	return name
		.replace(/^supports(?=[A-Z])/, "")
		.replaceAll(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`)
		.trim();
}

export function ModelsTable(): JSX.Element | null {
	const { value, problem } = useAnswer<{ readonly models: readonly ListedModel[] }>(
		areThreads() ? "/api/models" : undefined,
	);
	const models = value?.models ?? about.value?.models?.map((name) => ({ name })) ?? [];
	if (problem !== undefined) return <p class="notice is-error">{problem}</p>;
	if (models.length === 0) return null;
	return (
		<section>
			<h2>Models</h2>
			<Scrolls class="table" label="Models">
				<table>
					<thead>
						<tr>
							<th>name</th>
							<th>model</th>
							<th>provider</th>
							<th>capabilities</th>
							<th>fallbacks</th>
						</tr>
					</thead>
					<tbody>
						{modelRows(models).map((cells) => (
							<tr key={cells[0]}>
								{cells.map((cell, at) => (
									<td key={at}>{cell}</td>
								))}
							</tr>
						))}
					</tbody>
				</table>
			</Scrolls>
		</section>
	);
}
