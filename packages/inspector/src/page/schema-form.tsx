// The fields of a JSON Schema as a form, or as names and values if they cannot be changed.
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { type Field, textIn } from "./schema-fields.ts";

type Texts = Readonly<Record<string, string>>;

export function Fields(props: {
	readonly of: readonly Field[];
	/** Name of the tool. */
	readonly name: string;
	/** The typed texts, by the name of the field. */
	readonly texts: Texts;
	/** Absent: the fields cannot be changed. */
	readonly change?: (texts: Texts) => void;
}): JSX.Element | null {
	const { of, name, texts, change } = props;
	if (of.length === 0) return null;
	if (change === undefined)
		return (
			<dl class="fields" aria-label={`Arguments of ${name}`}>
				{of.map((field) =>
					field.text === "" ? null : (
						<div class="field" key={field.name}>
							<dt>{field.name}</dt>
							<dd>{field.text}</dd>
							{field.description === "" ? null : <dd class="quiet">{field.description}</dd>}
						</div>
					),
				)}
			</dl>
		);
	return (
		<div class="fields">
			{of.map((field) => (
				<FieldInput
					key={field.name}
					of={field}
					text={textIn(texts, field)}
					change={(text) => change({ ...texts, [field.name]: text })}
				/>
			))}
		</div>
	);
}

function FieldInput(props: {
	readonly of: Field;
	readonly text: string;
	readonly change: (text: string) => void;
}): JSX.Element {
	const { of, text, change } = props;
	const { name, kind, isRequired, description, choices } = of;
	const id = useId();
	const isLong = kind === "json" || of.text.length > 80 || of.text.includes("\n");
	const given = { id, class: text === of.text ? undefined : "changed", required: isRequired };
	return (
		<div class={`field ${isLong ? "wide" : ""}`}>
			<label class="name" htmlFor={id}>
				{name}
				{isRequired ? "" : <span class="quiet"> optional</span>}
			</label>
			{kind === "choice" || kind === "yes-or-no" ? (
				<select {...given} value={text} onChange={({ currentTarget }) => change(currentTarget.value)}>
					{isRequired && of.text !== "" ? null : <option value="">–</option>}
					{(kind === "choice" ? choices : [true, false]).map((each) => (
						<option key={JSON.stringify(each)} value={JSON.stringify(each)}>
							{typeof each === "string"
								? each
								: each === true
									? "yes"
									: each === false
										? "no"
										: JSON.stringify(each)}
						</option>
					))}
				</select>
			) : isLong ? (
				<textarea
					{...given}
					rows={3}
					value={text}
					onInput={({ currentTarget }) => change(currentTarget.value)}
				/>
			) : (
				<input
					{...given}
					inputMode={kind === "number" ? "decimal" : undefined}
					value={text}
					onInput={({ currentTarget }) => change(currentTarget.value)}
				/>
			)}
			{description === "" ? null : <span class="quiet">{description}</span>}
		</div>
	);
}
