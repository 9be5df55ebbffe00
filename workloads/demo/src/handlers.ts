import { discard, type Implementation, implement, type Millrace, RetryAfter } from 'millrace'
import { confirmOrder, reportDay, sendReceipt } from './contracts.ts'

/** What the handlers need and only a started workload has. */
export interface Desk {
  readonly millrace: Millrace
  readonly receiptsUrl: string
  readonly pagesUrl: string
  /** Where pages are worked on, and kept. */
  readonly folder: string
}

export function handlersAt(desk: () => Desk): Implementation[] {
  return [
    implement(confirmOrder, (order, ctx) =>
      // The ledger row, the receipt's job and the completion of this job commit together, or not at all.
      ctx.transaction(async (tx) => {
        await tx.query('insert into demo.ledger (order_id, amount_cents) values ($1, $2)', [
          order.orderId,
          order.amountCents,
        ])
        await desk().millrace.enqueue(sendReceipt, order, { tx })
      }),
    ),

    implement(sendReceipt, async (order, ctx) => {
      const response = await fetch(desk().receiptsUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': ctx.jobId },
        body: JSON.stringify(order),
        signal: ctx.signal,
      })
      const answer = await response.text()
      if (response.ok) return { status: response.status }
      if (response.status === 400) return discard(`the receiver refuses the receipt: ${answer}`)
      const seconds = Number(response.headers.get('retry-after'))
      if (seconds > 0) throw new RetryAfter(seconds * 1_000, `the receiver is ${answer}`)
      throw new Error(`The receiver answered ${response.status}: ${answer}`)
    }),

    implement(reportDay, ({ day }, ctx) =>
      ctx.transaction(async (tx) => {
        const { rows } = await tx.query(
          `select count(*)::int as orders, coalesce(sum(amount_cents), 0)::int as total_cents
           from demo.ledger
           where entered_at >= $1::date and entered_at < $1::date + 1`,
          [day],
        )
        const [sum] = rows as [{ orders: number; total_cents: number }]
        ctx.log.info({ day, orders: sum.orders, total: sum.total_cents / 100 }, 'the day so far')
        return { day, orders: sum.orders, totalCents: sum.total_cents }
      }),
    ),
  ]
}
