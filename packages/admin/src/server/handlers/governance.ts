// Budgets and circuit breakers.
import { contract } from '../../contract/operations.ts'
import { notFound } from '../problem.ts'
import { given, type Route, route } from '../route.ts'

const { budgets, breakers } = contract

export const governanceRoutes: readonly Route[] = [
  route(budgets.list, async (_, { millrace }) => ({ budgets: await millrace.budgets.list() })),

  route(budgets.get, async ({ budget, period }, { millrace }) => ({
    ...(await millrace.budgets.get(budget, given({ period }))),
    usage: await millrace.budgets.usage(budget, given({ period })),
  })),

  route(budgets.adjust, async ({ budget, limit, period }, { millrace, by }) =>
    millrace.budgets.adjust(budget, { limit, by, ...given({ period }) }),
  ),

  route(breakers.list, async (_, { millrace }) => ({ breakers: await millrace.breakers.list() })),

  route(breakers.get, async ({ service }, { millrace }) => {
    const breaker = await millrace.breakers.get(service)
    if (breaker === undefined) throw notFound(`service "${service}"`)
    return breaker
  }),

  route(breakers.reset, ({ service }, { millrace, by }) => millrace.breakers.reset(service, { by })),

  route(breakers.open, async ({ service, for: time }, { millrace, by }) => {
    if ((await millrace.breakers.get(service)) === undefined) throw notFound(`service "${service}"`)
    return millrace.breakers.trip(service, { by, ...given({ for: time as `${number}m` | undefined }) })
  }),

  route(breakers.configure, async ({ service, openFor, ...settings }, { millrace, by }) => {
    if ((await millrace.breakers.get(service)) === undefined) throw notFound(`service "${service}"`)
    const change = given({ ...settings, openFor: openFor as `${number}m` | null | undefined })
    return millrace.breakers.configure(service, { by, ...change })
  }),
]
