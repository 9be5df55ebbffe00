// Colours: on a terminal, where nobody said NO_COLOR.
import { stripVTControlCharacters } from 'node:util'
import { defineJob, defineQueues } from 'millrace'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { cutTo, marked, painted } from '#src/colours'
import { table } from '#src/table'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ beds: {} })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })
const wasTerminal = process.stdout.isTTY

beforeEach(() => {
  process.stdout.isTTY = true
  vi.stubEnv('NO_COLOR', undefined)
  vi.stubEnv('TERM', 'xterm-256color')
})
afterEach(() => {
  process.stdout.isTTY = wasTerminal
})

const GREEN = '\u001b[32m'
const RED = '\u001b[31m'
const BOLD = '\u001b[1m'
const rows = [
  ['1', 'completed', 'dead'],
  ['22', 'dead (gave up)', 'x'],
]
const shown = () => painted(table(['ID', 'STATUS', 'TYPE'], rows))

test('titles are bold, states have their colour, and columns stand where they stood', () => {
  const [title = '', first = '', second = ''] = shown().split('\n')
  expect(title.startsWith(BOLD)).toBe(true)
  expect(first).toContain(`${GREEN}completed`)
  expect(second).toContain(`${RED}dead (gave up)`)
  // A type may be called like a state.
  expect(first.slice(first.lastIndexOf('\u001b'))).toMatch(/dead$/)
  expect(stripVTControlCharacters(shown())).toBe(
    'ID  STATUS          TYPE\n1   completed       dead\n22  dead (gave up)  x\n',
  )
})

test.each([
  ['with NO_COLOR', () => vi.stubEnv('NO_COLOR', '1')],
  ['on a terminal without colours', () => vi.stubEnv('TERM', 'dumb')],
  ['where the output is no terminal', () => Object.assign(process.stdout, { isTTY: false })],
])('%s there are none', (_, change) => {
  change()
  expect(shown()).toBe('ID  STATUS          TYPE\n1   completed       dead\n22  dead (gave up)  x\n')
})

test('a line is cut by what is seen of it', () => {
  const line = `${marked('bad', 'dead')} and gone`
  expect(stripVTControlCharacters(painted(cutTo(line, 7)))).toBe('dead an')
  expect(stripVTControlCharacters(painted(cutTo(line, 2)))).toBe('de')
  expect(cutTo('plain', 10)).toBe('plain')
})

test('what is stored brings no colours of its own, and JSON stays what it is', async () => {
  await using t = await base({ jobs: [nap] })
  const hostile = '\uf8e5red\uf8e0 \u001b[31mred'
  const { id } = await t.millrace.enqueue(nap, {}, { tenant: hostile, createdBy: hostile, delay: '1h' })
  for (const args of [['jobs'], ['job', id], ['tenants']]) expect((await t.run(...args)).out).not.toContain(RED)
  const { out } = await t.run('job', id, '--json')
  expect(out).not.toContain('\u001b')
  expect(JSON.parse(out)).toMatchObject({ tenant: hostile })
})
