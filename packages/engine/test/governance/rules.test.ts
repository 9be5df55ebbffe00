import { expect, test } from 'vitest'
import { Rules } from '#src/governance/rules'
import type { Session } from '#src/store/db'
import type { LoadedRules } from '#src/store/rules'

/** A database whose answers come when they are told to. */
function slowDatabase() {
  const answers: ((rules: LoadedRules) => void)[] = []
  const run = () => new Promise((resolve) => answers.push((rules) => resolve([rules])))
  return { session: { run } as unknown as Session, answers }
}

const at = (version: number, queue?: string): LoadedRules => ({
  version,
  tenants: [],
  slots: [],
  limits: [],
  pauses: queue === undefined ? [] : [{ queue, type: null, tenant: null, untilMs: null } as never],
})

test('an older answer that comes late does not undo a pause', async () => {
  const rules = new Rules()
  const { session, answers } = slowDatabase()
  const older = rules.load(session)
  const newer = rules.load(session)
  answers[1]?.(at(2, 'mail'))
  await newer
  answers[0]?.(at(1))
  await older
  expect(rules.version).toBe(2)
  expect(rules.pausesIn('mail', 0)).toHaveLength(1)
})

test('a database that was set back is believed', async () => {
  const rules = new Rules()
  const { session, answers } = slowDatabase()
  const before = rules.load(session)
  answers[0]?.(at(7, 'mail'))
  await before
  const restored = rules.load(session)
  answers[1]?.(at(3))
  await restored
  expect(rules.version).toBe(3)
  expect(rules.pausesIn('mail', 0)).toEqual([])
})
