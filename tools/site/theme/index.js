// The default theme of VitePress, in our colours, with a link to the Markdown of each page.
import { useData, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { h } from "vue";
import "./colours.css";

const MarkdownLink = () => {
	const { page } = useData();
	const href = withBase(`/${page.value.relativePath}`);
	return h("p", { class: "markdown-link" }, [h("a", { href, target: "_blank" }, "This page as Markdown")]);
};

export default {
	extends: DefaultTheme,
	Layout: () => h(DefaultTheme.Layout, null, { "doc-footer-before": () => h(MarkdownLink) }),
};
