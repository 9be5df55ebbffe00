// Documents must not point into the void: links, anchors, file names, log lines.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Every file below a folder whose name ends like that, by its path from the root. */
function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : filesIn(path, ending)
    return entry.name.endsWith(ending) ? [path] : []
  })
}

const pages = filesIn('', '.md')
const withoutBlocks = (text: string) => text.replace(/^```.*?^```$/gms, '')

/** As GitHub makes anchors of headings. */
function anchorsOf(path: string): string[] {
  const headings = [...withoutBlocks(textOf(path)).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] as string)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Where a file may lie that a page names; besides the page's own folder. */
const searched = [
  '',
  'packages/engine',
  'packages/engine/src',
  'packages/engine/src/store',
  'packages/engine/src/store/sql',
]

/** Names that stand for files somebody might write. */
const examples = [
  './contracts.js',
  'types.ts',
  'utils.ts',
  'noun_verb.sql',
  '0002_words_of_what_it_does.sql',
  'docs/decisions/NNNN-title.md',
]

describe.each(pages)('%s', (page) => {
  const text = withoutBlocks(textOf(page))

  test('links to what exists', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] as string)
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false
      const [target = '', anchor] = link.split('#')
      const path = target === '' ? page : relative(root, join(root, dirname(page), target))
      return !existsSync(join(root, path)) || (anchor !== undefined && !anchorsOf(path).includes(anchor))
    })
    expect(broken).toEqual([])
  })

  test('names files that exist', () => {
    const names = [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*\.(?:ts|js|sql|json|md))`/g)].map(
      (match) => match[1] as string,
    )
    // The table of what a workload must do names its tests.
    const tests = join(dirname(page).replace(/^docs\//, ''), 'test')
    const places = [...searched, dirname(page), join(dirname(page), 'src'), tests]
    const isThere = (name: string) => places.some((place) => existsSync(join(root, place, name)))
    expect(names.filter((name) => !examples.includes(name) && !isThere(name))).toEqual([])
  })
})

test('the architecture page knows every package and every folder of the engine', () => {
  const text = textOf('docs/architecture.md')
  const folders = (path: string) =>
    readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  const expected = [
    ...folders('packages').map((name) => `packages/${name}`),
    ...folders('workloads').map((name) => `workloads/${name}`),
    ...folders('packages/engine/src'),
  ]
  expect(expected.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([])
})

test('every decision has a number of its own and all four parts', () => {
  const decisions = filesIn('docs/decisions', '.md').sort()
  decisions.forEach((path, i) => {
    const number = String(i + 1).padStart(4, '0')
    expect(path).toMatch(new RegExp(`/${number}-`))
    for (const part of [`# ${number} `, '**Context.**', '**Decision.**', '**Alternatives.**', '**Consequences.**']) {
      expect(textOf(path), path).toContain(part)
    }
  })
})

test('the operations page quotes log lines that the code writes', () => {
  const code = [...filesIn('packages/engine/src', '.ts'), ...filesIn('packages/cli/src', '.ts')].map(textOf).join('\n')
  const rows = textOf('docs/operations.md').matchAll(/^\| (`.+?) \| .+ \| .+ \|$/gm)
  const lines = [...rows].flatMap(([, cell]) =>
    [...(cell as string).matchAll(/`([a-z][^`]+ [^`]+)`/g)].map((match) => match[1] as string),
  )
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) {
    // The engine writes "<what> failed" for whatever failed.
    const [, what] = /^(\w+) failed$/.exec(line) ?? []
    expect(code, line).toContain(what === undefined ? line : `'${what}'`)
  }
})
