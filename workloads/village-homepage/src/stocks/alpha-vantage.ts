// Alpha Vantage, function GLOBAL_QUOTE. It says "too many requests" with status 200.
import { z } from 'zod'
import type { Outside } from '../outside/outside.ts'
import { jsonOf, ServiceFailed } from '../outside/service-call.ts'
import type { Asked } from './quote.ts'

const NAME = 'Alpha Vantage'

const amount = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .transform(Number)
const answer = z.union([
  z.object({ Note: z.string() }).transform(() => 'limited' as const),
  z.object({ Information: z.string() }).transform(() => 'limited' as const),
  z.object({ 'Error Message': z.string() }).transform((told) => ({ refused: told['Error Message'].slice(0, 200) })),
  z.object({
    'Global Quote': z.object({
      '05. price': amount,
      '07. latest trading day': z.iso.date(),
      '08. previous close': amount,
      '09. change': amount,
      '10. change percent': z.string().regex(/^-?\d+(\.\d+)?%$/),
    }),
  }),
  z.object({ 'Global Quote': z.strictObject({}) }).transform(() => ({ refused: `${NAME} does not know the symbol` })),
])

export async function askAlphaVantage(outside: Outside, symbol: string, signal: AbortSignal): Promise<Asked> {
  const { baseUrl, apiKey } = outside.addresses['alpha-vantage']
  const query = new URLSearchParams({ function: 'GLOBAL_QUOTE', symbol, apikey: apiKey })
  const url = `${baseUrl}/query?${query}`
  const parsed = answer.safeParse(await jsonOf(outside, { service: NAME, url, signal }))
  if (!parsed.success) throw new ServiceFailed(NAME, 'answered in a form that is not known', { cause: parsed.error })
  const told = parsed.data
  if (told === 'limited' || 'refused' in told) return told
  const quote = told['Global Quote']
  return {
    symbol,
    price: quote['05. price'],
    change: quote['09. change'],
    changePercent: Number(quote['10. change percent'].slice(0, -1)),
    previousClose: quote['08. previous close'],
    tradingDay: quote['07. latest trading day'],
  }
}
