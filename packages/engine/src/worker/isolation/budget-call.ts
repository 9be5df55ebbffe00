// ctx.budget of an isolated handler: its calls go to the worker, which has the budget's code and connections.
import { InvalidDefinition } from '../../errors.ts'
import type { BudgetStatus } from '../../governance/budget-status.ts'
import type { Spending } from '../../governance/budgets.ts'
import type { BudgetPort } from '../run-budget.ts'

export type BudgetCall =
  | { act: 'look' }
  | { act: 'reserve'; id: string; amount: number }
  | { act: 'spend'; spending: Spending }
  | { act: 'release'; id: string }

/** In the process of the handler. */
export function callingPort(type: string, ask: (call: BudgetCall) => Promise<unknown>): BudgetPort {
  const status = (call: BudgetCall) => ask(call) as Promise<BudgetStatus>
  return {
    look: () => status({ act: 'look' }),
    reserve: (reservation) => status({ act: 'reserve', ...reservation }),
    spend: async (spending, tx) => {
      if (tx !== undefined) {
        throw new InvalidDefinition(
          `The handler of job "${type}" is isolated, and its budget is kept by the worker: ctx.budget.spend cannot be part of { tx }. Leave the option out: it is counted at once.`,
        )
      }
      return status({ act: 'spend', spending })
    },
    release: async (id) => {
      await ask({ act: 'release', id })
    },
  }
}

/** In the worker. */
export function answerBudgetCall(port: BudgetPort, call: BudgetCall): Promise<unknown> {
  switch (call.act) {
    case 'look':
      return port.look()
    case 'reserve':
      return port.reserve(call)
    case 'spend':
      return port.spend(call.spending, undefined)
    case 'release':
      return port.release(call.id)
  }
}
