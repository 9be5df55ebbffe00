// The tags of an item: what the model is asked for, and what of its answer is accepted.
import { z } from 'zod'

export const SENTIMENTS = ['positive', 'negative', 'neutral', 'mixed'] as const
export const CATEGORIES = [
  'Technology',
  'Business',
  'Science',
  'Health',
  'Politics',
  'Entertainment',
  'Sports',
  'World',
  'Environment',
  'Education',
  'Lifestyle',
  'Local',
] as const

const LONGEST_TOPIC = 40

/** Topics come from strangers' articles by way of a model: no markup, no control characters. */
const topic = z
  .string()
  .trim()
  .min(1)
  .max(LONGEST_TOPIC)
  .regex(/^[^<>\p{Cc}]*$/u, 'has markup')

const unique = (items: readonly string[]): boolean =>
  new Set(items.map((item) => item.toLowerCase())).size === items.length

const tagsSchema = z.object({
  topics: z.array(topic).min(3).max(5).refine(unique, 'names a topic twice'),
  sentiment: z.enum(SENTIMENTS),
  categories: z.array(z.enum(CATEGORIES)).min(1).max(3).refine(unique, 'names a category twice'),
  confidence: z.number().min(0).max(1),
})

export type AiTags = z.output<typeof tagsSchema>

export const TOOL_NAME = 'record_tags'

/** The tool that the model is made to call. */
export const TAGS_TOOL = {
  name: TOOL_NAME,
  description: 'Records the tags of the article.',
  input_schema: {
    type: 'object' as const,
    properties: {
      topics: {
        type: 'array',
        description: 'What the article is about: 3 to 5 keywords or short phrases.',
        items: { type: 'string', minLength: 1, maxLength: LONGEST_TOPIC },
        minItems: 3,
        maxItems: 5,
      },
      sentiment: { type: 'string', enum: [...SENTIMENTS] },
      categories: {
        type: 'array',
        items: { type: 'string', enum: [...CATEGORIES] },
        minItems: 1,
        maxItems: 3,
      },
      confidence: { type: 'number', description: 'How sure you are of these tags.', minimum: 0, maximum: 1 },
    },
    required: ['topics', 'sentiment', 'categories', 'confidence'],
    additionalProperties: false,
  },
}

/** The tags, or what is wrong with them. */
export function readTags(input: unknown): { tags: AiTags } | { wrong: string } {
  const { data, error } = tagsSchema.safeParse(input)
  if (error === undefined) return { tags: data }
  const [issue] = error.issues
  return { wrong: `${issue?.path.join('.') || 'the input'}: ${issue?.message}` }
}
