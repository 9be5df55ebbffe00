// Colours, on a terminal alone and never where NO_COLOR is set. Until it is written, text carries them as marks of the private use
// area: so it can be made safe as a whole, and its width is what people see once the marks are left out.
import { styleText } from 'node:util'

const STYLES = { title: 'bold', good: 'green', busy: 'cyan', warning: 'yellow', bad: 'red', faint: 'gray' } as const
export type Shade = keyof typeof STYLES

const SHADES = Object.keys(STYLES) as Shade[]
const FIRST = 0xf8e1
const END = '\uf8e0'
const MARKED = /([\uf8e1-\uf8e6])([^\uf8e0-\uf8e6\n]*)\uf8e0?/gu
const MARKS = /[\uf8e0-\uf8e6]/gu

/** What a state is called, in whatever list it stands. */
const WORDS: Readonly<Record<string, Shade>> = {
  ...shaded('good', 'ok completed closed sent redriven resolved applied active working NORMAL'),
  ...shaded('busy', 'processing running probing'),
  ...shaded('warning', 'failed blocked paused degraded warning REDUCE QUEUE half_open quiet unfinished overdue'),
  ...shaded('bad', 'dead failing critical error open HARD_STOP suspended refused crashed expired not_found'),
  ...shaded('faint', 'cancelled ignored revoked ended deleted'),
}

function shaded(shade: Shade, words: string): Record<string, Shade> {
  return Object.fromEntries(words.split(' ').map((word) => [word, shade]))
}

export const hasColours = ({ isTTY }: { isTTY?: boolean } = process.stdout): boolean =>
  isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

export function marked(shade: Shade, text: string): string {
  return hasColours() && text !== '' ? `${String.fromCharCode(FIRST + SHADES.indexOf(shade))}${text}${END}` : text
}

/** A state, or a text that begins with one, in its colour. */
export function markedState(text: string): string {
  const shade = WORDS[/^\w+/.exec(text)?.[0] ?? '']
  return shade === undefined ? text : marked(shade, text)
}

/** As the terminal obeys it. */
export function painted(text: string): string {
  if (!hasColours()) return text
  return text
    .replace(MARKED, (_, mark: string, inner: string) => {
      const shade = SHADES[mark.charCodeAt(0) - FIRST] as Shade
      return styleText(STYLES[shade], inner, { validateStream: false })
    })
    .replace(MARKS, '')
}

/** At most so many characters that can be seen. */
export function cutTo(text: string, width: number): string {
  let seen = 0
  let end = 0
  for (; end < text.length; end++) {
    if (text[end]?.search(MARKS) === 0) continue
    if (++seen > width) break
  }
  return text.slice(0, end)
}
