/**
 * The texts of the generated issue trackers: titles by project, each used once, subtasks, comments
 * and notes on work.
 */

/**
 * A project's key, labels, name of its sprints, and titles of its issues. The small fixture has the
 * first titles.
 */
export interface ProjectTexts {
  readonly key: string;
  readonly sprints?: string;
  readonly labels: readonly string[];
  readonly titles: readonly string[];
}

export const website: ProjectTexts = {
  key: "WEB",
  sprints: "Website sprint",
  labels: ["accessibility", "content", "design", "performance", "mobile", "seo"],
  titles: [
    "Team page loads slowly",
    "New case studies section",
    "Contact form sends twice",
    "Contrast of the footer links",
    "Cookie banner covers the menu",
    "Portfolio filter by industry",
    "Broken link in the imprint",
    "Rework the start page",
    "Image sizes on phones",
    "Job openings page",
    "Search results lack pictures",
    "Blog dates in the wrong order",
    "Menu cannot be reached by keyboard",
    "Compress the hero video",
    "Newsletter sign-up in the footer",
    "Page titles for search engines",
    "Dark colours for the gallery",
    "Directions to the studio",
  ],
};
export const support: ProjectTexts = {
  key: "SUP",
  labels: ["login", "print", "content", "billing"],
  titles: [
    "Password reset mail never arrives",
    "Client cannot open the proof",
    "Wrong address on the invoice",
    "Access for a new colleague",
    "Shared calendar shows old dates",
    "Download of the logo files fails",
    "Colours differ between two prints",
    "Upload stops at large files",
    "Signature missing in the mail template",
    "Question about font licences",
    "Reviewer cannot leave remarks",
    "Link to the draft has expired",
    "Two accounts for one person",
    "Statistics show no visitors",
    "Form answers land in spam",
  ],
};
export const office: ProjectTexts = {
  key: "OPS",
  labels: ["hardware", "network", "purchase", "safety"],
  titles: [
    "Printer on the first floor jams",
    "Replace the meeting room screen",
    "Wireless network drops at noon",
    "Order new chairs",
    "Test the fire alarm",
    "Backup disk is nearly full",
    "Renew the software licences",
    "Label the cable drawers",
    "Key cards for visitors",
    "Quiet phone corner",
    "Repair the coffee machine",
  ],
};
export const newsletter: ProjectTexts = {
  key: "NWS",
  labels: ["design", "content"],
  titles: [
    "Unsubscribe link is too small",
    "Move the address list",
    "Archive of old editions",
    "Greeting with the first name",
    "Pictures blocked by mail programs",
  ],
};
export const portal: ProjectTexts = {
  key: "POR",
  sprints: "Portal sprint",
  labels: ["accessibility", "content", "design", "security", "mobile"],
  titles: [
    "Claim form loses entries on reload",
    "Upload of damage photos",
    "Two-step sign-in for clients",
    "Status page of a claim",
    "Wording of the error messages",
    "German version of the help page",
    "Date picker starts on Sunday",
    "Session ends after five minutes",
    "Confirmation mail with claim number",
    "Print view of a claim",
    "Search for a policy number",
    "Screen reader skips the steps",
    "Phone numbers with country code",
    "Progress bar for long forms",
    "Duplicate claims are not noticed",
    "Load test with a thousand users",
    "Colours of the client's new brand",
  ],
};
export const catalogue: ProjectTexts = {
  key: "CAT",
  sprints: "Catalogue sprint",
  labels: ["content", "design", "print", "photo"],
  titles: [
    "Cover picture with mountains",
    "Size tables for jackets",
    "Index of all products",
    "Tents chapter layout",
    "Prices for Switzerland",
    "Icons for washing rules",
    "Photo shoot of the backpacks",
    "Paper samples for the cover",
    "Spelling of colour names",
    "Map of the shops",
    "Rope guide on two pages",
    "Recycling note on the back",
    "Missing article numbers",
    "Page numbers on photo pages",
    "French hyphenation",
    "Order form in the middle",
  ],
};
export const packaging: ProjectTexts = {
  key: "PKG",
  labels: ["content", "design", "print", "legal"],
  titles: [
    "Allergen list on the soup tin",
    "New cut for the muesli box",
    "Barcode too close to the fold",
    "Green of the olive oil label",
    "Nutrition table in three languages",
    "Window in the pasta bag",
    "Best-before field is too small",
    "Sticker for the spring offer",
    "Jam lid with the seal",
    "Paper instead of plastic band",
    "Carton for six bottles",
    "Sample boxes for the fair",
    "Recycling signs by country",
    "Weight on the front side",
    "Photo of the apple tart",
  ],
};
export const exhibition: ProjectTexts = {
  key: "EXH",
  sprints: "Exhibition sprint",
  labels: ["accessibility", "content", "design", "film"],
  titles: [
    "Timeline of the harbour",
    "Audio guide in the browser",
    "Ticket shop on phones",
    "Subtitles for the ship film",
    "Map of the halls",
    "Booking for school classes",
    "Scans of the old charts",
    "Opening hours on holidays",
    "Interview with the captain",
    "Sign language video",
    "Quiz for children",
    "Donation page",
    "Picture credits",
    "Loading of the 3D ship model",
    "Press area with downloads",
  ],
};

export const subtasks: readonly string[] = [
  "Collect the texts",
  "Draw a first sketch",
  "Ask the client for the files",
  "Check it on three phones",
  "Write the release note",
  "Measure before and after",
  "Clean up the old styles",
  "Proofread the Spanish version",
  "Make a short screen recording",
  "Update the style guide",
  "Choose the pictures",
  "Get two offers",
  "Talk to the printer",
  "Write the alt texts",
  "Test with a screen reader",
  "Prepare the test page",
  "Export the icons",
  "Tell the support team",
  "Check the licences",
  "Redirect the old addresses",
  "Sort the feedback",
  "Order a sample",
  "Compare two suppliers",
  "Fill in the table",
  "Cut the first version",
  "Set up the form",
  "Translate the captions",
  "Book the photographer",
  "Check the colours in print",
  "Archive the old version",
];

export const descriptions: readonly string[] = [
  "Reported by two clients this week.",
  "Happens on older phones only.",
  "The layout is approved, the texts are not.",
  "Please keep the old version until the client agrees.",
  "Screenshots are in the shared folder.",
  "Came up in the last review.",
  "Needed before the spring campaign.",
  "Ask the client before changing the wording.",
];

export const remarks: readonly string[] = [
  "I can reproduce it on my tablet.",
  "The client would like to see a draft on Friday.",
  "Tried a smaller version, looks better.",
  "Still waiting for the final texts.",
  "Fixed on the test server, please have a look.",
  "Could be related to the last update.",
  "Two more people asked about this.",
  "I have put the files into the shared folder.",
  "Let us keep it simple for now.",
  "The printer needs it three days earlier.",
  "Looks good to me.",
  "Not sure that this is worth the time.",
  "I will take a photo of it tomorrow.",
  "The old version was easier to read.",
  "Legal has no objections.",
  "Please add a note to the style guide.",
  "Works now, thank you.",
  "I would split this in two.",
  "The numbers in the table are from last year.",
  "We agreed on the blue one.",
];

export const workNotes: readonly string[] = [
  "first draft",
  "testing",
  "call with the client",
  "corrections",
  "review",
  "research",
  "set-up",
  "clean-up",
  "photos",
  "texts",
];
