// Styles. Every colour and size that a page may change is a public variable, `--belfry-…`; those with an underscore are
// internal. Sheets are constructed, so a page need not allow inline styles.

export const styles = `
:host {
  display: inline-block;
  color-scheme: light dark;
  --_bg: var(--belfry-color-background, light-dark(#fff, #141417));
  --_fg: var(--belfry-color-foreground, light-dark(#18181b, #f4f4f5));
  --_muted: var(--belfry-color-secondary-foreground, light-dark(#52525b, #a1a1aa));
  --_sunken: var(--belfry-color-secondary, light-dark(#f4f4f5, #202024));
  --_line: var(--belfry-color-neutral, light-dark(#e4e4e7, #2a2a30));
  --_accent: var(--belfry-color-primary, light-dark(#b45309, #f59e0b));
  --_on-accent: var(--belfry-color-primary-foreground, light-dark(#fff, #1c1206));
  --_counter: var(--belfry-color-counter, light-dark(#b45309, #f59e0b));
  --_on-counter: var(--belfry-color-counter-foreground, light-dark(#fff, #1c1206));
  --_ring: var(--belfry-color-ring, var(--_accent));
  --_shadow: var(--belfry-color-shadow, light-dark(rgb(24 24 27 / .14), rgb(0 0 0 / .6)));
  --_high: var(--belfry-color-severity-high, light-dark(#dc2626, #f87171));
  --_medium: var(--belfry-color-severity-medium, light-dark(#d97706, #fbbf24));
  --_low: var(--belfry-color-severity-low, light-dark(#2563eb, #60a5fa));
  --_bad: light-dark(#b91c1c, #f87171);
  --_good: light-dark(#15803d, #4ade80);
  --_hover: color-mix(in srgb, var(--_fg) 5%, transparent);
  --_unread: color-mix(in srgb, var(--_accent) 4%, var(--_bg));
  --_size: var(--belfry-font-size, 14px);
  --_radius: var(--belfry-border-radius, 6px);
}
:host([theme=light]) { color-scheme: light; }
:host([theme=dark]) { color-scheme: dark; }
:host([hidden]) { display: none; }
:host(belfry-notifications), :host(belfry-preferences) { display: block; height: 100%; }
* { box-sizing: border-box; }
.belfry {
  font-family: var(--belfry-font-family, inherit);
  font-size: var(--_size);
  font-weight: 400;
  font-style: normal;
  line-height: 1.43;
  color: var(--_fg);
  text-align: start;
  letter-spacing: normal;
  -webkit-font-smoothing: antialiased;
}
:host(belfry-notifications) .belfry, :host(belfry-preferences) .belfry { height: 100%; }
button, input, select { font: inherit; color: inherit; margin: 0; }
button { background: none; border: 0; padding: 0; cursor: pointer; text-align: inherit; -webkit-tap-highlight-color: transparent; }
button:disabled { cursor: default; }
h2, h3, h4, p { margin: 0; font: inherit; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--_ring); outline-offset: -2px; }
.icon { width: 1.25em; height: 1.25em; flex: none; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.icon.i-more { stroke-width: 2.75; }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.space { flex: 1; }

.bell { position: relative; display: grid; place-items: center; width: 40px; height: 40px; border-radius: 50%; transition: background .15s; }
.bell:hover, .bell[aria-expanded=true] { background: var(--_hover); }
.bell .icon { width: 22px; height: 22px; }
.badge {
  position: absolute; top: 2px; inset-inline-start: 21px;
  min-width: 18px; height: 18px; padding: 0 5px;
  border-radius: 9px; background: var(--_counter); color: var(--_on-counter);
  font-size: 11px; font-weight: 600; line-height: 18px; text-align: center; font-variant-numeric: tabular-nums;
  box-shadow: 0 0 0 2px var(--_bg);
  animation: pop .18s ease-out;
}
.dot-badge { min-width: 0; width: 9px; height: 9px; padding: 0; top: 7px; inset-inline-start: 24px; }
.bell[data-severity=high] .badge { background: var(--_high); color: light-dark(#fff, #1c0a0a); }

.panel, .inline { display: flex; flex-direction: column; overflow: hidden; background: var(--_bg); color: var(--_fg); position: relative; }
.inline { height: 100%; min-height: 200px; }
.panel {
  position: fixed; inset: auto; margin: 0; padding: 0; z-index: 2147483000;
  width: min(var(--belfry-width, 400px), calc(100vw - 16px));
  height: min(var(--belfry-height, 600px), calc(100vh - 16px));
  border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 6px);
  box-shadow: 0 1px 2px var(--_shadow), 0 16px 40px -8px var(--_shadow);
  animation: rise .16s ease-out;
}
.narrow-only.icon-button, .touch-only.icon-button { display: none; }

.header { display: flex; align-items: center; gap: 2px; padding: 10px 10px 8px 12px; flex: none; min-height: 52px; }
[dir=rtl] .header { padding: 10px 12px 8px 10px; }
.title { font-size: 1.143em; font-weight: 600; line-height: 1.5; letter-spacing: -.01em; }
.title-button { display: inline-flex; align-items: center; gap: 4px; min-width: 0; padding: 4px 6px; margin-inline-start: -2px; border-radius: var(--_radius); }
.title-button .title { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.title-button:hover, .title-button[aria-expanded=true] { background: var(--_hover); }
.title-button .icon { width: 16px; height: 16px; color: var(--_muted); }
.icon-button { display: inline-grid; place-items: center; flex: none; width: 32px; height: 32px; border-radius: var(--_radius); color: var(--_muted); transition: background .12s, color .12s; }
.icon-button:hover, .icon-button[aria-expanded=true] { background: var(--_hover); color: var(--_fg); }
.icon-button .icon { width: 18px; height: 18px; }
.back { margin-inline-end: 4px; }
[dir=rtl] .back .icon { transform: scaleX(-1); }

.menu-anchor { position: relative; display: inline-flex; }
.header > .menu-anchor:first-child { min-width: 0; }
.menu {
  position: fixed; inset: auto; margin: 0; z-index: 2147483001;
  min-width: 200px; max-width: min(320px, calc(100vw - 16px)); padding: 4px;
  background: var(--_bg); color: var(--_fg);
  border: 1px solid var(--_line); border-radius: calc(var(--_radius) + 2px);
  box-shadow: 0 1px 2px var(--_shadow), 0 10px 24px -6px var(--_shadow);
  animation: rise .12s ease-out;
}
.menu-item { display: flex; align-items: center; gap: 10px; width: 100%; min-height: 34px; padding: 4px 10px; border-radius: calc(var(--_radius) - 1px); }
.menu-item:hover, .menu-item:focus-visible { background: var(--_hover); outline: none; }
.menu-item .icon { width: 16px; height: 16px; color: var(--_muted); }
.menu-item .icon.i-check { color: var(--_accent); }
.menu-label { flex: 1; }
.menu-hint { color: var(--_muted); font-size: .857em; font-variant-numeric: tabular-nums; padding-inline-start: 16px; }
.count { min-width: 18px; padding: 0 5px; border-radius: 9px; background: var(--_sunken); color: var(--_muted); font-size: 11px; font-weight: 600; line-height: 18px; text-align: center; font-variant-numeric: tabular-nums; }

.tabs { position: relative; display: flex; align-items: center; flex: none; padding: 0 6px; border-bottom: 1px solid var(--_line); }
.tab-strip { display: flex; flex: 1; min-width: 0; overflow: hidden; }
.tab { display: inline-flex; align-items: center; gap: 6px; flex: none; height: 38px; padding: 0 10px; color: var(--_muted); font-weight: 500; white-space: nowrap; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.tab:hover { color: var(--_fg); }
.tab[aria-selected=true] { color: var(--_fg); border-color: var(--_accent); }
.tab[aria-selected=true] .count { background: color-mix(in srgb, var(--_accent) 14%, var(--_bg)); color: light-dark(color-mix(in srgb, var(--_accent) 90%, #000), var(--_accent)); }
.tab.chosen { max-width: 140px; color: var(--_fg); border-color: var(--_accent); }
.tab.chosen span { overflow: hidden; text-overflow: ellipsis; }
.tab.chosen .icon { width: 16px; height: 16px; }
.tab.overflowing { visibility: hidden; pointer-events: none; }

.banner { display: flex; align-items: center; gap: 8px; flex: none; padding: 8px 16px; font-size: .929em; background: color-mix(in srgb, var(--_medium) 14%, var(--_bg)); }
.banner .icon { width: 16px; height: 16px; }

.scroller { flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--_line) transparent; position: relative; }
.header + .scroller { border-top: 1px solid var(--_line); }
.pill { display: inline-flex; align-items: center; gap: 5px; flex: none; height: 30px; margin-inline: auto 4px; padding: 0 13px 0 10px; border-radius: 15px; background: var(--_accent); color: var(--_on-accent); font-weight: 600; font-size: .929em; white-space: nowrap; animation: pop .18s ease-out; }
.pill .icon { width: 15px; height: 15px; stroke-width: 2.25; }
.pill:focus-visible { outline-offset: 2px; }

.row { position: relative; display: block; overflow: hidden; cursor: default; touch-action: pan-y; }
.row.linked { cursor: pointer; }
.row { border-bottom: 1px solid var(--_line); }
.card { position: relative; display: flex; gap: 12px; padding: 14px 16px; background: var(--_bg); transition: background .12s; }
.row.unread .card { background: var(--_unread); }
.row:hover .card, .row:focus-within .card { background: color-mix(in srgb, var(--_fg) 4%, var(--_bg)); }
.row:focus-visible { outline-offset: -2px; z-index: 1; }
.row:focus-visible .card { background: color-mix(in srgb, var(--_fg) 4%, transparent); }
.bar { position: absolute; inset-block: 0; inset-inline-start: 0; width: 3px; background: var(--_low); }
[data-severity=high] .bar { background: var(--_high); }
[data-severity=medium] .bar { background: var(--_medium); }
.avatar { position: relative; flex: none; display: grid; place-items: center; width: 36px; height: 36px; border-radius: 50%; overflow: hidden; font-size: 13px; font-weight: 600; letter-spacing: .01em; --_hue: 35; background: light-dark(hsl(var(--_hue) 70% 92%), hsl(var(--_hue) 32% 24%)); color: light-dark(hsl(var(--_hue) 70% 26%), hsl(var(--_hue) 70% 82%)); }
.avatar img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.hue-1 { --_hue: 210; } .hue-2 { --_hue: 150; } .hue-3 { --_hue: 270; } .hue-4 { --_hue: 340; } .hue-5 { --_hue: 180; } .hue-6 { --_hue: 10; } .hue-7 { --_hue: 240; }
.text { flex: 1; min-width: 0; }
.head { display: flex; align-items: baseline; gap: 8px; }
.subject { flex: 1; min-width: 0; overflow-wrap: anywhere; font-weight: 500; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.unread .subject { font-weight: 600; }
.subject strong, .body strong { font-weight: 600; }
.time { flex: none; color: var(--_muted); font-size: .857em; font-variant-numeric: tabular-nums; white-space: nowrap; }
.dot { flex: none; align-self: flex-start; margin-top: .45em; width: 8px; height: 8px; border-radius: 50%; background: var(--_accent); }
[data-severity=high] .dot { background: var(--_high); }
.body { margin-top: 2px; color: var(--_muted); overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.body a { color: light-dark(color-mix(in srgb, var(--_accent) 92%, #000), var(--_accent)); text-decoration: underline; text-underline-offset: 2px; text-decoration-thickness: 1px; }
.body strong { color: var(--_fg); }
code { font: .893em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; padding: 1px 4px; border-radius: 4px; background: var(--_sunken); color: var(--_fg); }
.note { display: flex; align-items: center; gap: 5px; margin-top: 6px; color: var(--_muted); font-size: .857em; }
.note .icon { width: 14px; height: 14px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }
.action { display: inline-flex; align-items: center; justify-content: center; gap: 6px; min-height: 30px; padding: 3px 12px; border-radius: var(--_radius); font-weight: 500; font-size: .929em; border: 1px solid var(--_line); background: var(--_bg); transition: background .12s, border-color .12s; }
.action .icon { width: 15px; height: 15px; }
.action:hover { background: var(--_sunken); }
.action.primary { background: var(--_accent); border-color: var(--_accent); color: var(--_on-accent); }
.action.primary:hover { background: color-mix(in srgb, var(--_accent) 88%, var(--_fg)); }
.action:focus-visible { outline-offset: 2px; }
.action.done, .action.done:hover { background: transparent; border-color: var(--_line); color: var(--_good); }
.action:disabled { opacity: .6; }
.action.big { min-height: 34px; padding: 5px 14px; font-size: 1em; }

.tools { position: absolute; top: 8px; inset-inline-end: 10px; display: flex; padding: 2px; border-radius: calc(var(--_radius) + 2px); background: var(--_bg); border: 1px solid var(--_line); box-shadow: 0 2px 8px -2px var(--_shadow); opacity: 0; pointer-events: none; transition: opacity .1s; }
.tools .icon-button { width: 28px; height: 28px; }
.tools .icon-button .icon { width: 16px; height: 16px; }
.row:hover .tools, .row:focus-visible .tools, .tools:focus-within, .tools.open { opacity: 1; pointer-events: auto; }
.swipe-hint { position: absolute; inset-block: 0; width: 50%; display: flex; align-items: center; padding: 0 24px; color: var(--_muted); background: var(--_sunken); opacity: 0; }
.swipe-hint.start { inset-inline-start: 0; }
.swipe-hint.end { inset-inline-end: 0; justify-content: flex-end; }
.swiped-end .swipe-hint.start, .swiped-start .swipe-hint.end { opacity: 1; }
.far .swipe-hint { background: var(--_accent); color: var(--_on-accent); }
.row:not(.swiped-end, .swiped-start) .card { transition: background .12s, transform .18s ease-out; }
@media (hover: none) {
  .tools { opacity: 1; pointer-events: auto; border: 0; box-shadow: none; background: none; position: static; align-self: flex-start; margin: -9px -12px -9px -10px; }
  .tools .tool { display: none; }
  .touch-only.icon-button { display: inline-grid; }
  .icon-button { min-width: 36px; min-height: 36px; }
}

.picker { display: grid; gap: 6px; padding: 8px; font-weight: 500; }
.picker input, .search input, .times input, .zone select { height: 34px; padding: 0 8px; border: 1px solid var(--_line); border-radius: var(--_radius); background: var(--_bg); font-weight: 400; color-scheme: inherit; min-width: 0; }
.picker-buttons { display: flex; justify-content: flex-end; gap: 8px; padding: 4px 8px 8px; }
.problem { padding: 0 8px 4px; color: var(--_bad); font-size: .857em; }
.problem.inline { padding: 8px 16px; }

.loading, .rows-loading { animation: appear .2s .15s both; }
.skeleton { display: flex; gap: 12px; padding: 14px 16px; }
.skeleton + .skeleton { border-top: 1px solid var(--_line); }
.bones { flex: 1; display: grid; gap: 8px; padding-top: 2px; }
.bone { height: 10px; border-radius: 5px; background: var(--_sunken); animation: breathe 1.4s ease-in-out infinite; }
.bone:first-child { width: 60%; }
.bone.short { width: 75%; }
.bone.round { width: 36px; height: 36px; border-radius: 50%; flex: none; }

.notice { display: grid; justify-items: center; align-content: center; gap: 4px; min-height: min(100%, 380px); height: 100%; padding: 32px 40px 56px; text-align: center; }
.notice-icon { display: grid; place-items: center; width: 48px; height: 48px; margin-bottom: 10px; border-radius: 50%; background: color-mix(in srgb, var(--_accent) 11%, var(--_bg)); color: var(--_accent); }
.notice-icon .icon { width: 22px; height: 22px; }
.notice-icon.bad { background: color-mix(in srgb, var(--_bad) 11%, var(--_bg)); color: var(--_bad); }
.notice-title { font-weight: 600; }
.notice-text { color: var(--_muted); max-width: 30ch; text-wrap: balance; }
.notice .action { margin-top: 14px; }

.feedback { position: absolute; inset-inline: 12px; bottom: 12px; z-index: 3; display: flex; align-items: center; gap: 8px; min-height: 44px; padding: 6px 8px 6px 16px; border-radius: calc(var(--_radius) + 2px); background: light-dark(#27272a, #f4f4f5); color: light-dark(#fafafa, #18181b); box-shadow: 0 8px 24px -6px var(--_shadow); animation: rise .16s ease-out; overflow: hidden; }
[dir=rtl] .feedback { padding: 6px 16px 6px 8px; }
.feedback > span { flex: 1; }
.feedback .icon-button { color: inherit; }
.feedback:not(.bad)::after { content: ''; position: absolute; inset-inline: 0; bottom: 0; height: 2px; background: light-dark(#f59e0b, #b45309); transform-origin: left; animation: run-out 5s linear forwards; }
[dir=rtl] .feedback::after { transform-origin: right; }
.feedback:hover::after, .feedback:focus-within::after { animation: none; }
.undo { padding: 5px 10px; border-radius: var(--_radius); font-weight: 600; color: light-dark(#fbbf24, #92400e); }
.undo:hover { background: color-mix(in srgb, currentColor 14%, transparent); }

.preferences { padding-bottom: 24px; }
.section { padding: 16px; }
.section + .section { border-top: 1px solid var(--_line); }
.section-head { display: flex; align-items: center; justify-content: space-between; }
h3 { font-weight: 600; }
h4 { margin-top: 14px; padding-bottom: 2px; font-size: .857em; font-weight: 600; color: var(--_muted); }
.hint { color: var(--_muted); font-size: .929em; }
.channels { margin-top: 8px; }
.channel { display: flex; align-items: center; gap: 10px; min-height: 36px; }
.channel .icon { width: 17px; height: 17px; color: var(--_muted); }
.channel-name { flex: 1; }
.switch { position: relative; flex: none; width: 34px; height: 20px; border-radius: 10px; background: light-dark(#8b8b94, #55555e); transition: background .15s; }
.switch::before { content: ''; position: absolute; inset: -4px; }
.switch[aria-checked=true] { background: var(--_accent); }
.switch.mixed[aria-checked=true] { background: color-mix(in srgb, var(--_accent) 55%, light-dark(#8b8b94, #55555e)); }
.switch:disabled { opacity: .5; }
.switch:focus-visible { outline-offset: 2px; }
.thumb { position: absolute; top: 2px; inset-inline-start: 2px; width: 16px; height: 16px; border-radius: 50%; background: #fff; box-shadow: 0 1px 2px rgb(0 0 0 / .25); transition: inset-inline-start .15s ease-out; }
.switch[aria-checked=true] .thumb { inset-inline-start: 16px; }
.search { position: relative; display: block; margin-top: 10px; }
.search .icon { position: absolute; top: 9px; inset-inline-start: 10px; width: 16px; height: 16px; color: var(--_muted); }
.search input { width: 100%; padding-inline: 34px 10px; }
.search + .fold, h3 + .fold { margin-top: 8px; }
.fold-button { display: flex; align-items: center; gap: 8px; width: calc(100% + 16px); min-height: 40px; margin: 0 -8px; padding: 4px 8px; border-radius: var(--_radius); }
.fold-button:hover { background: var(--_hover); }
.fold-name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 500; }
.fold-side { flex: none; max-width: 50%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--_muted); font-size: .857em; display: flex; }
.fold-side .icon { width: 15px; height: 15px; }
.fold-button > .icon { width: 16px; height: 16px; color: var(--_muted); transition: transform .15s ease-out; }
.fold-button[aria-expanded=true] > .icon { transform: rotate(180deg); }
.fold-content { padding: 0 0 8px; }
.fold-content .channels { margin-top: 0; }
.members { padding-inline-start: 12px; border-inline-start: 2px solid var(--_line); margin-top: 4px; }
.locked { display: flex; align-items: flex-start; gap: 8px; margin: 2px 0 6px; padding: 8px 10px; border-radius: var(--_radius); background: var(--_sunken); color: var(--_muted); font-size: .929em; }
.locked .icon { width: 15px; height: 15px; margin-top: 2px; }
.week { margin-top: 10px; }
.day { display: flex; align-items: center; gap: 10px; min-height: 42px; }
.day-name { flex: 1; white-space: nowrap; }
.day.off .day-name { color: var(--_muted); }
.times { display: flex; align-items: center; gap: 6px; flex-wrap: wrap; justify-content: flex-end; }
.times input { height: 32px; padding: 0 8px; font-size: .929em; font-variant-numeric: tabular-nums; }
.times input::-webkit-calendar-picker-indicator { display: none; }
.zone { margin-top: 12px; display: grid; gap: 6px; justify-items: start; }
.zone-label { display: grid; gap: 4px; width: 100%; font-weight: 500; font-size: .929em; }
.zone select { width: 100%; }
.text-button { padding: 2px 0; color: light-dark(color-mix(in srgb, var(--_accent) 92%, #000), var(--_accent)); font-size: .929em; text-decoration: underline; text-underline-offset: 2px; text-decoration-thickness: 1px; min-height: 24px; }
.connect { display: inline-flex; align-items: center; gap: 12px; }

.toasts { position: fixed; inset: auto; margin: 0; padding: 16px; border: 0; background: none; z-index: 2147483002; display: grid; gap: 8px; width: min(376px, 100vw); pointer-events: none; overflow: visible; }
.toasts.bottom-end { bottom: 0; inset-inline-end: 0; }
.toasts.bottom-start { bottom: 0; inset-inline-start: 0; }
.toasts.top-end { top: 0; inset-inline-end: 0; }
.toasts.top-start { top: 0; inset-inline-start: 0; }
.toast { pointer-events: auto; display: flex; align-items: flex-start; gap: 4px; padding: 12px 8px 12px 16px; background: var(--_bg); color: var(--_fg); border: 1px solid var(--_line); border-inline-start: 3px solid var(--_accent); border-radius: calc(var(--_radius) + 2px); box-shadow: 0 1px 2px var(--_shadow), 0 12px 32px -8px var(--_shadow); animation: rise .18s ease-out; }
.toast[data-severity=high] { border-inline-start-color: var(--_high); }
.toast-text { flex: 1; min-width: 0; display: grid; }
.toast strong { font-weight: 600; }

@media (max-width: 480px) {
  .panel { left: 0 !important; top: 0 !important; width: 100vw; height: 100dvh; max-width: none; max-height: none; border: 0; border-radius: 0; }
  .narrow-only.icon-button { display: inline-grid; }
}
@keyframes rise { from { opacity: 0; transform: translateY(4px); } }
@keyframes pop { from { opacity: 0; transform: scale(.6); } }
@keyframes appear { from { opacity: 0; } }
@keyframes breathe { 50% { opacity: .45; } }
@keyframes run-out { to { transform: scaleX(0); } }
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { animation: none !important; transition: none !important; }
}
@media (forced-colors: active) {
  .switch { border: 1px solid; }
  .switch[aria-checked=true] { background: Highlight; }
  .dot, .bar, .badge { forced-color-adjust: none; }
}
`
