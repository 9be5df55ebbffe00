// The guide "The first ten minutes", typed line by line: what each command prints is compared with what the guide shows.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './support/document.ts'
import { WayIn } from './support/way-in.ts'

const guide = readFileSync(join(root, 'docs/guides/first-ten-minutes.md'), 'utf8')

interface Typed {
  readonly line: string
  readonly shown: readonly string[]
}

/** The commands of a section, each with the lines that follow it. */
function typedIn(title: string): Typed[] {
  const [, section = ''] = new RegExp(`^## ${title.replace('?', '\\?')}\n(.*?)(?=^## |(?![^]))`, 'ms').exec(guide) ?? []
  const consoles = [...section.matchAll(/^```console\n(.*?)^```$/gms)].map((match) => match[1] as string)
  if (consoles.length === 0) throw new Error(`The guide shows no command under "${title}".`)
  return consoles.flatMap((text) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((each) => {
        const [line = '', ...shown] = each.trimEnd().split('\n')
        return { line, shown: shown.filter((one) => one !== '') }
      }),
  )
}

/** Ids, times and names of people differ with each run. */
const normal = (line: string): string =>
  line
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b(\d+[smhd] ago|now)\b/g, 'AGO')
    .replace(/\b[\da-f]{12}\b/g, 'FINGERPRINT')
    .replace(/ by [\w-]+ since/, ' by SOMEONE since')
    .replace(/\d+/g, '0')
    .replace(/ +/g, ' ')
    .trim()

const normalLines = (text: string): string[] => text.split('\n').map(normal).filter(Boolean)

/** A job or letter of the guide by the id that it has in this run. */
class Ids {
  readonly #known = new Map<string, string>()

  learn(shown: readonly string[], output: string): void {
    const [, inGuide] = /^Job (\d+) is enqueued/m.exec(shown.join('\n')) ?? []
    const [, here] = /^Job (\d+) is enqueued/m.exec(output) ?? []
    if (inGuide !== undefined && here !== undefined) this.#known.set(inGuide, here)
  }

  in(line: string): string {
    return line.replace(/(?<=explain )\d+/, (id) => this.#known.get(id) ?? id)
  }
}

test('every command of the guide prints what the guide shows', { timeout: 300_000 }, async () => {
  await using wayIn = await WayIn.begin(process.execPath)
  const folder = join(wayIn.home, 'my-jobs')
  const handlers = join(folder, 'src/handlers.ts')
  const ids = new Ids()
  const type = async ({ line, shown }: Typed, cwd = folder) => {
    const { output } = await wayIn.sh(ids.in(line), cwd)
    ids.learn(shown, output)
    expect(normalLines(output), line).toEqual(expect.arrayContaining(shown.map(normal)))
  }
  const typeAll = async (title: string) => {
    for (const each of typedIn(title)) await type(each)
  }

  await wayIn.demand(
    'mkdir -p ~/millrace-packs && npm pack --workspace=packages --pack-destination ~/millrace-packs',
    root,
  )
  for (const each of typedIn('A new project')) await type(each, root)
  const [dev] = typedIn('Start it')
  const { banner } = await wayIn.during(dev?.line ?? '', folder, async () => {
    await typeAll('Enqueue a job')
    await typeAll('Why does a job not run?')
  })
  expect(normalLines(banner)).toEqual(expect.arrayContaining((dev?.shown ?? []).map(normal)))

  const whole = readFileSync(handlers, 'utf8')
  writeFileSync(handlers, /^```ts\n(\/\/ handlers.*?)^```$/ms.exec(guide)?.[1] ?? '')
  await wayIn.during('npm run dev', folder, () => typeAll('Let one fail'))
  writeFileSync(handlers, whole)
  await wayIn.during('npm run dev', folder, async () => {
    const [redrive, ...rest] = typedIn('Try it again')
    await type(redrive as Typed)
    // The new job runs within moments: as long as a person needs to type the next line.
    const isDone = async () => (await wayIn.sh(rest[0]?.line ?? '', folder)).output.includes('completed')
    await expect.poll(isDone, { timeout: 30_000 }).toBe(true)
    for (const each of rest) await type(each)
  })
})
