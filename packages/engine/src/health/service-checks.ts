// What jobs depend on: services behind breakers, and budgets.
import { type Check, degraded } from './check.ts'
import { capitalised, counted, listed } from './words.ts'

export const breakers: Check = {
  name: 'breakers',
  area: 'services',
  look({ vitals }) {
    return {
      fine: 'Every circuit breaker is closed.',
      complaints: vitals.breakers.map(({ service, state, queues }) => {
        const names = queues.map((queue) => `"${queue}"`)
        const held = names.length === 0 ? '' : ` It holds jobs of ${listed(names, 'queue')}.`
        return degraded(
          `The breaker of service "${service}" is ${state === 'open' ? 'open' : 'half-open: one job tries the service'}.${held}`,
          'Look at the service. When it is well again, one job finds out; `millrace breakers reset SERVICE` is quicker.',
        )
      }),
    }
  },
}

export const budgets: Check = {
  name: 'budgets',
  area: 'services',
  look({ vitals }) {
    const used = vitals.budgets.filter(({ percent }) => percent >= 100)
    return {
      fine:
        vitals.budgets.length === 0
          ? 'No budget is declared.'
          : `${capitalised(counted(vitals.budgets.length, 'budget'))} ${vitals.budgets.length === 1 ? 'has' : 'have'} something left.`,
      complaints: used.map(({ budget, period, spent, limit, unit }) =>
        degraded(
          `Budget "${budget}" is used up in ${period}: ${spent} of ${limit} ${unit} are spent. Jobs that are charged to it do not run.`,
          'See who spends it: `millrace budgets usage BUDGET`. Raise it with `millrace budgets set BUDGET` if that is right.',
        ),
      ),
    }
  },
}
