import { expect, test } from 'vitest'
import { Line } from '#src/workflow/line'
import { eventually, signal } from '../support/setup.ts'

/** What is done for an id takes until somebody says so. */
function held(atOnce: number) {
  const active: string[] = []
  const ends = new Map<string, () => void>()
  const line = new Line(atOnce, async (id) => {
    active.push(id)
    const end = signal()
    ends.set(id, end.resolve)
    await end.promise
    active.splice(active.indexOf(id), 1)
  })
  return { line, active, end: (id: string) => ends.get(id)?.() }
}

test('a few at a time, and a slow one holds up no other', async () => {
  const { line, active, end } = held(2)
  const slow = line.add(['slow'])
  const others = line.add(['a', 'b'])
  expect(active).toEqual(['slow', 'a'])
  end('a')
  await eventually(() => Promise.resolve(active.includes('b')))
  expect(active).toEqual(['slow', 'b'])
  end('b')
  await others
  expect(active).toEqual(['slow'])
  end('slow')
  await slow
  await line.idle()
})

test('what comes again while it is being done is done once more, and not at once', async () => {
  const { line, active, end } = held(2)
  const first = line.add(['a'])
  const again = Promise.all([line.add(['a']), line.add(['a'])])
  expect(active).toEqual(['a'])
  end('a')
  await first
  expect(active).toEqual(['a'])
  end('a')
  await again
  expect(active).toEqual([])
})
