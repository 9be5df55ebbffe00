// The colours of every theme, by arithmetic: text reaches 4.5 to 1 on what it stands on, queue colours and edges 3 to 1.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const css = readFileSync(new URL('../src/styles/tokens.css', import.meta.url), 'utf8')

type Scheme = 'light' | 'dark'

/** The values of a rule, for one scheme. */
function tokensOf(selector: string, scheme: Scheme): Map<string, string> {
  const start = css.indexOf(`${selector} {`)
  const body = css.slice(start, css.indexOf('\n}', start))
  const pairs = [...body.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)]
  return new Map(pairs.map(([, name = '', light = '', dark = '']) => [name, scheme === 'light' ? light : dark]))
}

function themeOf(name: 'usual' | 'contrast', scheme: Scheme): Map<string, string> {
  const usual = tokensOf(':root', scheme)
  return name === 'usual' ? usual : new Map([...usual, ...tokensOf('[data-theme="contrast"]', scheme)])
}

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

const QUEUES = ['q-salmon', 'q-blue', 'q-lavender', 'q-green', 'q-yellow', 'q-none']
const TEXTS = ['ink', 'ink-2', 'ink-3', 'accent', 'ok', 'late', 'fail']
const PAIRS = [
  ...TEXTS.flatMap((text) => ['surface', 'bg', 'sunken'].map((ground) => [text, ground, 4.5] as const)),
  ...['ok', 'late', 'fail', 'accent'].map((tone) => [tone, `${tone}-soft`, 4.5] as const),
  ...['ink-2', 'ink-3'].map((text) => [text, 'accent-soft', 4.5] as const),
  ...QUEUES.map((queue) => [queue, 'surface', 3] as const),
  ['on-accent', 'accent', 4.5],
  ['edge', 'surface', 3],
] as const

for (const theme of ['usual', 'contrast'] as const)
  for (const scheme of ['light', 'dark'] as const)
    test(`colours can be read in the ${theme} theme, ${scheme}`, () => {
      const tokens = themeOf(theme, scheme)
      const low = PAIRS.flatMap(([a, b, least]) => {
        const ratio = contrast(tokens.get(a) ?? '#000000', tokens.get(b) ?? '#000000')
        return ratio < least ? [`${a} on ${b}: ${ratio.toFixed(2)} < ${least}`] : []
      })
      expect(tokens.size).toBeGreaterThan(20)
      expect(low).toEqual([])
    })
