// The categories that an item can have: one to three of them.
export const TAG_CATEGORIES = [
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
