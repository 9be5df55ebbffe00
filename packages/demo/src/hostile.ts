// Texts that break screens which trust what they show. They stand in payloads, errors and log lines of the demo.

export const HOSTILE_TEXTS = {
  html: '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>',
  ansi: '\u001b[31mred\u001b[0m \u001b]0;owned\u0007 \u001b[2J',
  rightToLeft: 'مرحبا \u202egnp.exe\u202c שלום',
  template: '{{constructor.constructor("return this")()}} #{7*7} %s %n',
  sql: "Robert'); drop table parcels; --",
  combining: `Z${'\u0351\u034c\u0363'.repeat(12)}algo`,
  url: 'javascript:document.title="owned"',
  wide: '👩‍👩‍👧‍👦 漢字 ﷽',
} as const

/** One word that no screen has room for. */
export const LONG_WORD = `parcel-${'0123456789'.repeat(60)}`

/** An error as some libraries make them: thousands of lines. */
export const LONG_TEXT = Array.from(
  { length: 400 },
  (_, line) => `line ${line + 1}: expected <parcel weight="…"> but found </parcel>`,
).join('\n')
