// Open-Meteo: forecasts for places that the Weather Service does not cover. It knows no alerts.
import { z } from 'zod'
import type { Outside } from '../outside/outside.ts'
import { jsonOf, ServiceFailed } from '../outside/service-call.ts'
import { DAYS, type Forecast, type Place } from './weather.ts'

const NAME = 'Open-Meteo'

const numbers = z.array(z.number().nullable())
const answer = z.object({
  current: z.object({ temperature_2m: z.number(), weather_code: z.number() }),
  daily: z.object({
    time: z.array(z.iso.date()),
    temperature_2m_max: numbers,
    temperature_2m_min: numbers,
    precipitation_probability_max: numbers,
    weather_code: numbers,
  }),
})

export class OpenMeteo {
  readonly #outside: Outside

  constructor(outside: Outside) {
    this.#outside = outside
  }

  async forecast({ latitude, longitude, timeZone }: Place, signal: AbortSignal): Promise<Forecast> {
    const query = new URLSearchParams({
      ...{ latitude: String(latitude), longitude: String(longitude), timezone: timeZone, forecast_days: String(DAYS) },
      current: 'temperature_2m,weather_code',
      daily: 'temperature_2m_max,temperature_2m_min,precipitation_probability_max,weather_code',
    })
    const url = `${this.#outside.addresses['open-meteo'].baseUrl}/v1/forecast?${query}`
    const parsed = answer.safeParse(await jsonOf(this.#outside, { service: NAME, url, signal }))
    if (!parsed.success) throw new ServiceFailed(NAME, 'answered in a form that is not known', { cause: parsed.error })
    const { current, daily } = parsed.data
    return {
      current: { temperature: current.temperature_2m, unit: 'C', summary: words(current.weather_code) },
      days: daily.time.map((date, i) => ({
        ...{ date, unit: 'C' as const, summary: words(daily.weather_code[i]) },
        high: daily.temperature_2m_max[i] ?? null,
        low: daily.temperature_2m_min[i] ?? null,
        rain: daily.precipitation_probability_max[i] ?? null,
      })),
    }
  }
}

/** The codes of the World Meteorological Organization, from each to the next. */
const CODES: readonly (readonly [from: number, words: string])[] = [
  [0, 'Clear'],
  [1, 'Mostly clear'],
  [2, 'Partly cloudy'],
  [3, 'Overcast'],
  [45, 'Fog'],
  [51, 'Drizzle'],
  [61, 'Rain'],
  [66, 'Freezing rain'],
  [71, 'Snow'],
  [80, 'Showers'],
  [85, 'Snow showers'],
  [95, 'Thunderstorm'],
]

const words = (code: number | null | undefined): string =>
  CODES.findLast(([from]) => code !== null && code !== undefined && from <= code)?.[1] ?? 'Unknown'
