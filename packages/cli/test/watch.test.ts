// --watch: commands that look at something look again and again.
import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { program } from '#src/main'
import { print, printJson } from '#src/print'
import { addWatchOptions, watch } from '#src/watch'
import { Program } from './support/program.ts'
import { setup } from './support/setup.ts'

const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({}) })

const whole = (out: string): unknown[] =>
  out
    .slice(0, out.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('with --json each look is a line, what changes is seen, and SIGINT ends it as a success', async () => {
  await using t = await setup({ jobs: [send] })
  await using watching = new Program(['queues', '--watch', '--every', '500ms', '--json'], t.env)
  await watching.said(/\[\]\n/)
  await t.millrace.enqueueMany(send, [{}, {}])
  await watching.said(/"due":2.*\n/)
  watching.signal('SIGINT')
  const { code, out, err } = await watching.ended()
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const looks = whole(out)
  expect(looks[0]).toEqual([])
  expect(looks.at(-1)).toMatchObject([{ queue: 'mail', due: 2 }])
})

test('without a terminal the tables follow one another, and it ends when nobody reads them any more', async () => {
  await using t = await setup({ jobs: [send] })
  await t.millrace.enqueue(send, {})
  await using watching = new Program(['jobs', '--watch', '--every', '500ms'], t.env)
  await watching.said(/Z\nID .*\n1 +pending[^\n]*\n\n[\d:T.-]+Z\nID /)
  watching.closeOutput()
  expect(await watching.ended()).toMatchObject({ code: 0, err: '' })
})

test('every command that lists can be watched', () => {
  const without = program().commands.flatMap((group) => {
    const list = group.commands.find((each) => each.name() === 'list') ?? group
    const isList = group.commands.includes(list) || ['jobs', 'queues', 'stats', 'pauses', 'audit'].includes(list.name())
    return isList && !list.options.some(({ long }) => long === '--watch') ? [group.name()] : []
  })
  // A token is made once in a while.
  expect(without).toEqual(['tokens'])
})

/** A terminal that remembers what was drawn. */
function terminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 60, rows: 6 })
  let text = ''
  const waiting = new Set<() => void>()
  output.on('data', (chunk) => {
    text += chunk
    for (const look of waiting) look()
  })
  return {
    input,
    output,
    text: () => text,
    shown: (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => pattern.test(text) && resolve()
        waiting.add(look)
        look()
      }),
  }
}

/** Runs an act under --watch on a terminal of that kind. */
function watched(act: () => Promise<void>, json?: true) {
  const screen = terminal()
  const root = addWatchOptions(new Command('millrace'))
  const options = { watch: true, every: '500ms', ...(json && { json }) } as const
  return { ...screen, ended: watch(root, options, act, screen as never) }
}

test('on a terminal the answer is drawn in place, what fails later is told, and q leaves what was seen', async () => {
  const answers = [() => print('one\n'), () => Promise.reject(new Error('the server\nis gone')), () => print('two\n')]
  const t = watched(async () => (answers.length > 1 ? answers.shift() : answers[0])?.())
  await t.shown(/one/)
  await t.shown(/OLD, of [\d:]+ .*The last look failed: Error: the server/s)
  await t.shown(/two/)
  t.input.write('q')
  await t.ended
  const text = t.text()
  expect(text.startsWith('\u001b[?1049h')).toBe(true)
  expect(text.endsWith('\u001b[?1049ltwo\n')).toBe(true)
  expect(text, 'nothing is cleared before it is drawn').not.toContain('\u001b[2J')
  const frames = text.split('\u001b[H').slice(1)
  expect(frames[0]?.split('\u001b[K\r\n')[0]).toMatch(/^Every 0\.5 s: millrace +\d\d:\d\d:\d\d {3}q quit$/)
})

test('a screen that is too small says how much is left out', async () => {
  const t = watched(async () => print('a\nb\nc\nd\ne\nf\n'))
  await t.shown(/… 3 more lines/)
  t.input.write('\u0003')
  await t.ended
})

test('the first failure ends it, and JSON never takes the screen', async () => {
  await expect(watched(() => Promise.reject(new Error('no'))).ended).rejects.toThrow('no')
  const t = watched(async () => printJson([{ a: 1 }]), true)
  await t.shown(/\[\{"a":1\}\]\n\[\{"a":1\}\]\n/)
  t.output.emit('close')
  await t.ended
  expect(t.text()).not.toContain('\u001b')
})
