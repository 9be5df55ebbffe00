import { expect, test } from 'vitest'
import { databaseMutation, mutationNames, textsUnder } from '#src/harness/mutations'
import { scenarios } from '#src/scenarios/index'

test.each(mutationNames)('%s still finds what it breaks, and some scenario must notice', (name) => {
  if (databaseMutation(name) === undefined) expect(textsUnder(name)).not.toEqual(textsUnder(undefined))
  expect(scenarios.filter((scenario) => name in scenario.mutations).length).toBeGreaterThan(0)
})

test('every scenario can fail', () => {
  const unfalsifiable = scenarios.filter((scenario) => Object.keys(scenario.mutations).length === 0)
  expect(unfalsifiable.map((scenario) => scenario.name)).toEqual([])
})
