// docs/diagrams: what they name exists, and the guide to the tables is what the migrations make.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { standsOf } from '#src/outside/services'
import { root } from '../../../test/support/document.ts'
import { erdGuide } from './support/erd-guide.ts'
import { config, setup } from './support/setup.ts'

const FOLDER = join(root, 'docs/diagrams')
const FILE = /\b(?:packages|workloads|docs)\/[\w./-]+\.(?:tsx?|sql|md)\b/g
/** PlantUML writes a line break as \\n. */
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8').replaceAll('\\n', '\n')

test.each(readdirSync(FOLDER))('every file that %s names exists', (name) => {
  const named = textOf(name).match(FILE) ?? []
  for (const path of named) expect(existsSync(join(root, path)), path).toBe(true)
  if (name.endsWith('.puml')) expect(named.length).toBeGreaterThan(2)
})

test('the containers are the queues, the job types and the services that there are', async () => {
  await using t = await setup()
  const text = textOf('container.puml')
  const queues = [...text.matchAll(/worker: (\w+)/g)].map(([, name]) => name)
  expect(queues.sort()).toEqual([...new Set(t.village.jobs.map(({ queue }) => queue.name))].sort())
  for (const { type } of t.village.jobs) if (type !== 'CDN_REMOVE') expect(text, type).toContain(type)
  for (const [, type = ''] of text.matchAll(/\b([A-Z]+(?:_[A-Z]+)+)\b/g))
    expect(t.village.jobs.map((job) => job.type)).toContain(type)
  for (const service of Object.keys(standsOf(config(), { mode: 'dev', queues: [] })))
    expect(text, service).toContain(`[${service}]`)
})

test('the index of policies has a row for each, with its code and its test', () => {
  const rows = textOf('README.md')
    .split('\n')
    .filter((line) => /^\| P\d+ \|/.test(line))
  expect(rows.map((row) => /P\d+/.exec(row)?.[0])).toEqual(['P2', 'P5', 'P7', 'P10', 'P12', 'P13', 'P14'])
  for (const row of rows) expect(row.split('|')[4]).toMatch(/test\/[\w/-]+\.test\.ts/)
})

test('the guide to the tables is what the migrations make', async () => {
  await using t = await setup()
  await expect(await erdGuide(t.pool)).toMatchFileSnapshot(join(FOLDER, 'erd-guide.md'))
})
