/**
 * What is posted, and by whom beyond the canon's people: texts with hashtags whose first sentences
 * occur once.
 */

/** People who show their work, of other cities: name, handle, what they say of themselves. */
export const creators: readonly (readonly [name: string, handle: string, bio: string])[] = [
  ["Lena Fischer", "lenadraws", "One drawing a day"],
  ["Pablo Serra", "pabloserra", "Letterpress and slow printing"],
  ["Mira Stein", "mirastein", "Ceramics with salt glaze"],
  ["Ivo Zanetti", "ivo_lens", "Street photographs, no filters"],
  ["Aoife Burke", "aoifebinds", "I bind books by hand"],
  ["Luc Fabre", "lucfabre", "Type designer"],
  ["Greta Olsen", "gretaolsen", "Patterns for wool and paper"],
  ["Samir Nasser", "samirbakes", "Bread, mostly rye"],
  ["Judit Balog", "juditbalog", "Stop-motion films from paper"],
  ["Tiago Neves", "tiagoneves", "Surf and film cameras"],
  ["Elsa Bergman", "elsaberg", "Gardens on rooftops"],
  ["Yusuf Demir", "yusufcodes", "Small websites, fast"],
];

/** What a studio's people post about. */
export const workPosts: readonly string[] = [
  "Poster series for the theatre is done. Three weeks of ink on our hands. #posters #print",
  "New typeface on trial today. The lower case g wins. #typography",
  "Our print shop saved us again. Proofs in four hours. #print #thanks",
  "Sketches for the exhibition site. More to come. #design #museum",
  "Colour tests for a spring catalogue. Which green would you take? #colour #design",
  "Keyboard navigation works everywhere now. Small win, big smile. #accessibility #web",
  "We painted the studio wall yellow. No regrets. #studio",
  "Looking for an intern who loves paper. Write to us. #jobs #studio",
  "Before and after of a soup label. Same soup, new tin. #packaging",
  "Filmed with sign language for the first time. #accessibility #film",
  "Fifty icons in one week. My dreams are sixteen pixels wide. #icons #design",
  "Photo day with backpacks and a lot of mud. #photo #behindthescenes",
  "The old logo next to the new one. Find seven differences. #logo #design",
  "Page weight down by half. The planet says hello. #web #performance",
  "Binding samples came by mail today. They smell wonderful. #paper #print",
  "Lunch on the pier with the whole team. #studio #lunch",
  "First draft of the annual report cover. Bold or bolder? #design #report",
  "Wireframes on napkins are still wireframes. #ux #design",
  "Our plotter is thirty years old and still prints. #print #oldtech",
  "Alt texts are love letters to people you never meet. #accessibility #web",
  "Mood board for a harbour festival. #moodboard #festival",
  "Someone left a tiny drawing in our letter box. Thank you, stranger. #kindness",
  "Trade fair stand fits into two suitcases. #design #travel",
  "Night shift for a morning launch. Coffee count is six. #launch #web",
];

/** What friends and family post about. */
export const lifePosts: readonly string[] = [
  "Bread from a three-year-old sourdough. Still alive. #baking",
  "Swam in the sea before breakfast. Eleven degrees. #sea #morning",
  "My balcony tomatoes have a name now. #garden",
  "Found my first record player on the attic. It works. #music #vinyl",
  "Ran ten kilometres without stopping. Almost. #running",
  "Pasta evening with far too many friends. #food #friends",
  "The lighthouse at six in the morning. #photo #sea",
  "Choir rehearsal was loud and happy today. #music #choir",
  "Moving boxes, day four. Send help or cake. #moving",
  "Grandmother's plum cake recipe is finally written down. #baking #family",
  "Took the slow train and read a whole novel. #books #travel",
  "My bicycle has a new bell. Beware. #bicycle",
  "Fog in the valley, sun on the hill. #hiking #photo",
  "Pottery class, bowl number nine. It holds soup. #pottery",
  "Old photographs from the island, 1974. #family #photo",
  "Learned three chords, played four songs. #guitar #music",
  "Rescued a pigeon, named it Friday. #animals",
  "Snow in March and no gloves. #winter",
  "Film night with subtitles and popcorn. #film #friends",
  "Painted the kitchen in two blues. #home #colour",
];

/** What places and firms post about; the name of the place or firm goes before. */
export const businessPosts: readonly string[] = [
  "new opening hours from April. See you until eight. #news",
  "the spring menu is here. Peas, mint and lemon. #food #spring",
  "late evening on Thursday. Doors open until ten. #event",
  "thank you for a wonderful year. Cake for everybody on Saturday. #thanks",
  "we are looking for help at weekends. Ask at the counter. #jobs",
  "readings on the first Sunday of the month. #books #event",
  "closed on Monday for repairs. #news",
  "our new season begins on Friday. Tickets from today. #tickets #culture",
  "ten years, ten stories. The first one is out. #anniversary",
  "a small exhibition by our neighbours. Come and look. #art #local",
  "two new colours in stock. #shopping",
  "workshops for children in the holidays. #kids #workshop",
  "free tasting on Wednesday. First come, first served. #food #event",
  "open day with tours every hour. #openday",
  "we now recycle what you bring back. #green",
  "our team has doubled. Say hello. #team",
];

/** What creators post about. */
export const creatorPosts: readonly string[] = [
  "Day 212, a heron that refused to stand still. #drawing #birds",
  "Wood type from 1890 meets neon ink. #letterpress #print",
  "Salt glaze out of the kiln. One crack, eleven wonders. #ceramics",
  "Two strangers with the same umbrella. #street #photo",
  "Coptic binding in four colours. #bookbinding #paper",
  "Drawing the ampersand again. And again. #typography",
  "A pattern of fishes that never meet. #pattern #textile",
  "Rye loaf with caraway. Crust like a drum. #baking #bread",
  "Four seconds of film, nine hundred pictures. #stopmotion #film",
  "Cold waves and expired film. #surf #photo",
  "Bees on the ninth floor. #rooftop #garden",
  "A website that weighs less than a photograph. #web #performance",
  "Sketchbook tour, volume seven. #drawing #sketchbook",
  "How I mix my own grey. #ink #print",
  "Cups that fit your hand and no dishwasher. #ceramics #handmade",
  "Waiting for the tram since 1982. #street #city",
  "Endpapers made from old sea charts. #bookbinding #sea",
  "A free font for your posters. Take it. #typography #free",
  "Wool, rain, wool, rain. #textile #weather",
  "Starter for everyone who visits the bakery. #bread #share",
  "Paper whale, twelve joints. #stopmotion #paper",
  "Longboard at dawn. #surf #morning",
  "Herbs for bad soil and good soups. #garden #herbs",
  "No cookies, no tracking, no banner. #web #privacy",
];

/** What is said under posts. */
export const replies: readonly string[] = [
  "This is lovely!",
  "Where was this?",
  "Congratulations!",
  "I want one too.",
  "Count me in.",
  "What a light!",
  "The second one, please.",
  "So proud of you.",
  "Can I come along next time?",
  "Beautiful work.",
  "How long did it take?",
  "Made me smile.",
  "Please sell prints.",
  "Best news today.",
  "That looks cold.",
  "Save me a piece.",
  "Great idea.",
  "I remember that day.",
];

/** What is said when a post is passed on. */
export const passings: readonly string[] = [
  "You need to see this one.",
  "Good people doing good things.",
  "Saving this for later.",
  "For everybody who asked me last week.",
  "Exactly my kind of morning.",
  "Look at this before it is gone.",
  "My favourite find of the week.",
  "Somebody please join me there.",
  "I have been waiting for this.",
  "Worth a minute of your day.",
];

export const bios: readonly string[] = [
  "Mostly outdoors",
  "Coffee first",
  "Photographs and bicycles",
  "Reads everything twice",
  "Sings in the car",
  "Two cats, one garden",
  "Walks to work",
  "Collects old maps",
  "Learning to bake",
  "Always near the water",
];
