// The default theme of VitePress, in our colours, with a link to the Markdown of each page.
import { useData, useRoute, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { h, nextTick, onMounted, watch } from "vue";
import "./colours.css";

const MarkdownLink = () => {
	const { page } = useData();
	const href = withBase(`/${page.value.relativePath}`);
	return h("p", { class: "markdown-link" }, [h("a", { href, target: "_blank" }, "This page as Markdown")]);
};

/** Corrects three faults of the default theme that screen readers notice. Runs after each page is shown. */
const correct = () => {
	document.querySelector(".VPHome")?.setAttribute("role", "main");
	// The name of a button has to contain its visible text.
	for (const button of document.querySelectorAll(".DocSearch-Button"))
		button.setAttribute("aria-label", button.textContent.trim());
	// A group in the sidebar is a button that contains another one; the inner one is enough.
	for (const group of document.querySelectorAll(".VPSidebarItem > .item[role=button]"))
		if (group.querySelector("[role=button]") !== null) {
			group.removeAttribute("role");
			group.removeAttribute("tabindex");
		}
};

const useCorrections = () => {
	const route = useRoute();
	onMounted(correct);
	watch(
		() => route.path,
		() => nextTick(correct),
	);
};

export default {
	extends: DefaultTheme,
	Layout: () => h(DefaultTheme.Layout, null, { "doc-footer-before": () => h(MarkdownLink) }),
	setup: useCorrections,
};
