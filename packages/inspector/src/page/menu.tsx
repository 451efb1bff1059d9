// A button with a small panel below it. The browser closes a popover with Escape and with a click elsewhere, and returns the
// focus to the button.
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";

export function Menu(props: {
	readonly id: string;
	readonly name: string;
	readonly children: ComponentChildren;
}): JSX.Element {
	const { id, name, children } = props;
	const button = useRef<HTMLButtonElement>(null);
	const [isOpen, setOpen] = useState(false);
	return (
		<>
			<button ref={button} type="button" popoverTarget={id}>
				{name} <span aria-hidden="true">▾</span>
			</button>
			<div
				id={id}
				class="menu"
				popover="auto"
				onBeforeToggle={({ newState }) => setOpen(newState === "open")}
				onToggle={({ currentTarget, newState }) => {
					if (newState !== "open") {
						// Escape has left the field in the panel before the browser could return the focus.
						if (document.activeElement === document.body) button.current?.focus();
						return;
					}
					const { bottom = 0, left = 0 } = button.current?.getBoundingClientRect() ?? {};
					const { width, height } = currentTarget.getBoundingClientRect();
					currentTarget.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
					currentTarget.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - height - 8))}px`;
					currentTarget.querySelector<HTMLElement>("input, button")?.focus();
				}}
			>
				{isOpen ? children : null}
			</div>
		</>
	);
}
