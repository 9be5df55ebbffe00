// Alpha Vantage (GLOBAL_QUOTE, 25 requests a day) and Stooq (CSV). Prices wander with the clock, the same for both.
import { type Answer, type Call, json, type Service, text } from '@millrace/sandbox'

const DAILY_REQUESTS = 25
const INFORMATION =
  'We have detected your API key and our standard API rate limit is 25 requests per day. Please subscribe to a premium plan to instantly remove all daily rate limits.'

interface Quote {
  readonly price: number
  readonly previousClose: number
  readonly day: string
}

export class AlphaVantage implements Service {
  readonly #today: () => Date
  #day = ''
  #used = 0

  constructor({ today }: { today: () => Date }) {
    this.#today = today
  }

  /** Of the current day. */
  get requests(): number {
    return this.#used
  }

  answer({ path, query }: Call): Answer {
    if (path !== '/query') return text(404, 'not found')
    const symbol = query.get('symbol') ?? ''
    if (query.get('function') !== 'GLOBAL_QUOTE' || !query.get('apikey') || symbol === '')
      return json(200, {
        'Error Message': 'Invalid API call. Please retry or visit the documentation for GLOBAL_QUOTE.',
      })
    const now = this.#today()
    const day = dayOf(now)
    if (day !== this.#day) [this.#day, this.#used] = [day, 0]
    if (this.#used >= DAILY_REQUESTS) return json(200, { Information: INFORMATION })
    this.#used += 1
    if (!/^[A-Z.]{1,8}$/.test(symbol)) return json(200, { 'Global Quote': {} })
    const { price, previousClose } = quoteOf(symbol, now)
    const change = price - previousClose
    return json(200, {
      'Global Quote': {
        '01. symbol': symbol,
        '02. open': previousClose.toFixed(4),
        '03. high': Math.max(price, previousClose).toFixed(4),
        '04. low': Math.min(price, previousClose).toFixed(4),
        '05. price': price.toFixed(4),
        '06. volume': '1204500',
        '07. latest trading day': day,
        '08. previous close': previousClose.toFixed(4),
        '09. change': change.toFixed(4),
        '10. change percent': `${((change / previousClose) * 100).toFixed(4)}%`,
      },
    })
  }

  limited(): Answer {
    return json(200, { Information: INFORMATION })
  }
}

export class Stooq implements Service {
  readonly #today: () => Date

  constructor({ today }: { today: () => Date }) {
    this.#today = today
  }

  answer({ path, query }: Call): Answer {
    if (path !== '/q/l/') return text(404, 'not found')
    const lines = (query.get('s') ?? '').split(/[+ ,]/).map((name) => {
      const symbol = name.toUpperCase().replace(/\.US$/, '')
      if (!/^[A-Z.]{1,8}$/.test(symbol)) return `${name.toUpperCase()},N/D,N/D,N/D,N/D,N/D,N/D,N/D`
      const { price, previousClose, day } = quoteOf(symbol, this.#today())
      const [low, high] = [Math.min(price, previousClose), Math.max(price, previousClose)].map((each) =>
        each.toFixed(2),
      )
      return `${symbol}.US,${day},17:30:00,${previousClose.toFixed(2)},${high},${low},${price.toFixed(2)},1204500`
    })
    return text(200, ['Symbol,Date,Time,Open,High,Low,Close,Volume', ...lines, ''].join('\r\n'), {
      'content-type': 'text/csv; charset=utf-8',
    })
  }

  limited(): Answer {
    return text(200, 'Exceeded the daily hits limit')
  }
}

const dayOf = (now: Date): string => now.toLocaleDateString('en-CA', { timeZone: 'America/New_York' })

/** Around a price that the name decides, in waves of hours and days. */
function quoteOf(symbol: string, now: Date): Quote {
  const seed = [...symbol].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_973, 7)
  const base = 20 + (seed % 380)
  const hours = now.getTime() / 3_600_000
  const wave = Math.sin(hours / 3 + seed) * 0.012
  const days = Math.sin(Math.floor(hours / 24) + seed) * 0.03
  return { price: base * (1 + days + wave), previousClose: base * (1 + days), day: dayOf(now) }
}
