// The default theme of VitePress, in our colours.
import DefaultTheme from "vitepress/theme";
import "./colours.css";

export default DefaultTheme;
