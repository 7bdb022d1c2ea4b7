"""Tell whether a question is about the present, the past, or the course of something.

In: a question. Out: a `Tense`, or None; whether it is in the future tense. Touches nothing.

This uses rules, not a model: each language has one table of patterns, and words of the question
tell the language. A question in the present tense is about the present, as most people leave out
"now".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from memoria._support.function_words import FUNCTION_WORDS
from memoria.recall.when.grammar import folded
from memoria.types.window import Tense

#: A longer sentence is not a question about one thing.
MAX_CHARS = 300
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\s]*")
_SIGNS = re.compile(r"[^\w?]+")

# Patterns by language; they match whole words of the question in lower case, without accents unless
# the pattern has some.
# course: how something changed, and all that has been ("Where have I lived?").
# former: an earlier state, in any tense.
# earlier: the same, but only in the past tense ("What do I need before the trip?" is not about the
# past).
# now: the present. past: the past tense. ever: whether something has ever happened, and
# the time between two events; neither asks for a state. future: the future tense.
_TABLE: Final[dict[str, dict[str, str]]] = {
    "english": {
        "course": r"how (?:\w+ ){0,2}(?:(?:has|have|had|did(?! (?:i|we|you) \w+ (?:my|our|your|the"
        r"|an?) )|s) .*(?:chang|develop|evolv|progress)\w*|(?:is|are|am) .*(?:chang|develop|evolv"
        r"|progress)ing)|chang(?:ed|es) over|over time|so far|over the (?:years|months|weeks)"
        r"|history of|timeline|in (?:what |which )?order(?! to| for)|chronolog\w+|evolution of"
        r"|the course of|what (?:has |have )?changed|(?:which|what|where|who)(?: \w+){0,3} (?:have"
        r"|has) (?:i|we|he|she|they)(?! got)|how (?:has|have) (?:my|our|the|his|her|their) .*\w+ed",
        "former": r"previous(?:ly)?|former(?:ly)?|(?<!am i )(?<!is )(?<!are )used to|in the past"
        r"|did (?:i|we|he|she|they) use to"
        r"|back then|no longer|originally|initially|at first|(?:my|our|your|his|her|their|s) old"
        r"|before \?|earlier \?",
        "earlier": r"before|earlier|first|once|prior|until|original|initial",
        "now": r"now|current(?:ly)?|at the moment|these days|nowadays|today|at present|presently"
        r"|still|latest|newest|most recent(?:ly)?|by now",
        "past": r"did|didn|was|wasn|were|weren|had|hadn|went|came|gave|took|made|said|told"
        r"|taught|bought|sold|(?:who|which \w+|what) (?!\w*eed )\w{2,}ed",
        "ever": r"ever|(?<! i )(?<! we )(?<! he )(?<! she )(?<! they )(?:have|has) .*before \?"
        r"|between",
        "future": r"(?<! my )(?<! the )(?<! a )(?<! his )(?<! her )(?<! does )(?<! is )(?<! with )"
        r"(?<! for )(?<! to )(?<! from )(?<! of )will(?! s )|shall|ll|won t|gonna"
        r"|(?:am|is|are|m|re|s)(?: \w+){0,3} going to",
    },
    "german": {
        "course": r"(?:ver|ge)andert\w*|sich .*entwickelt\w*|entwickelt\w* sich|verlauf\w*|verlief"
        r"|im laufe?|(?:wie|zeig\w*) .*entwicklung|der reihe nach|chronolog\w+|mit der zeit"
        r"|uber die (?:jahre|zeit|monate)",
        "former": r"vorig\w+|fruher\w*|ehemalig\w+|damal\w+|vorher\w*|zuvor|ursprunglich\w*"
        r"|anfangs|einst|nicht mehr|vorherig\w+"
        r"|(?:(?:mein|dein|sein|ihr|unser|euer)(?:e[nmrs]?)?|unsre|eure[nmrs]?) alte[nmrs]?(?! \?)",
        "earlier": r"davor|bevor|vor|zuerst|erste[nmrs]?|am anfang",
        "now": r"jetzt\w*|aktuell\w*|derzeit\w*|momentan\w*|gerade|zurzeit|zur zeit|im moment"
        r"|heute|heutzutage|inzwischen|mittlerweile|noch|neueste\w*|gegenwartig\w*|nun",
        "past": r"war|waren|warst|wart|hatte\w*|wurde\w*|wohnte\w*|lebte\w*|arbeitete\w*|kostete\w*"
        r"|hiess\w*|gab|ging|kam|fuhr"
        r"|(?:habe?|haben|hast|hat|habt) .* (?:\w*ge|be|ver|er|ent|zer|unter|uber)\w{2,}(?:t|en)",
        "ever": r"jemals|je|schon einmal|schon mal|zwischen",
        "future": r"(?:werde|wirst|wird|werden|werdet) .*\b\w+(?:en|ern|eln|ein|un) \?",
    },
    "dutch": {
        "course": r"verander(?:d|de|den|ing\w*)|zich .*ontwikkel\w*|ontwikkel\w* zich"
        r"|ontwikkeling van|verloop|hoe .*verlopen|in de loop|evolutie|chronolog\w+|op volgorde"
        r"|door de (?:jaren|tijd)",
        "former": r"vorige?|vroegere?|voormalige?|voorheen|destijds|toen|oorspronkelijke?"
        r"|aanvankelijk|eerder\w*|niet meer"
        r"|(?:mijn|jouw|je|zijn|haar|onze?|jullie|hun|uw) oude",
        "earlier": r"eerste?|voor|daarvoor|ervoor|ooit",
        "now": r"nu|momenteel|tegenwoordig|op dit moment|vandaag|huidige?|nog|actueel|actuele"
        r"|nieuwste|thans|inmiddels",
        "past": r"was|waren|had|hadden|werd|werden|deed|deden|woonde|woonden|werkte|werkten|kostte"
        r"|heette|ging|kwam|gaf|(?:heb|hebt|heeft|hebben) .*\bge\w{2,}(?:d|t|en)",
        "ever": r"ooit|tussen",
        "future": r"zal|zul|zult|zullen"
        r"|(?:ga|gaat|gaan) (?:ik|je|jij|u|hij|ze|zij|we|wij|jullie) .*\w+en \?",
    },
    "french": {
        "course": r"comment .*(?:evolue\w*|se developpe\w*|s est .*developpee?)"
        r"|comment (?:.* )?(?:a|ont) (?:.* )?change(?:e?s?)|evolution|au fil|dans l ordre"
        r"|l historique|historique d\w+|avec le temps|chronolog\w+|au cours d\w+",
        "former": r"ancien\w*|precedent\w*|precedemment|auparavant|autrefois|jadis|a l origine"
        r"|au debut|initial\w*|plus tot|avant \?",
        "earlier": r"avant|premier\w*|premiere\w*|d abord",
        "now": r"maintenant|actuel\w*|en ce moment|aujourd hui|desormais|a present|toujours|encore",
        "past": r"etai(?:t|s|ent)|avai(?:t|s|ent)|habitai\w+|travaillai\w+|vivai\w+|coutai\w+"
        r"|faisai\w+|allai\w+|venai\w+|s appelai\w+|\w{2,}ai(?:t|s|ent) (?:je|tu|il|elle|on|t|ils)"
        r"|(?:ai|as|a|avons|avez|ont)(?: \w+){0,3} (?!tu )\w+(?:é|ée|és|ées|u|ue|is|it)",
        "ever": r"jamais|deja|entre",
        "future": r"(?:je vais|vais je|tu vas|vas tu|(?:il|elle|on|qui) va|va t (?:il|elle|on)"
        r"|nous allons|allons nous|vous allez|allez vous|(?:ils|elles) vont|vont (?:ils|elles)"
        r"|(?<! ou )(?<! comment )(?:va|vont))(?: (?:y|le|la|les|me|te|se|nous|vous|pas))?"
        r" \w+(?:er|ir|dre|vre|tre|ire)|(?!vrai )\w*[eiduvr]r(?:ai|ont)|sera|aura|fera|ira"
        r"|(?!cam|op)\w{3,}[eiduv]ra|tu \w{2,}ras|nous \w{2,}rons|\w{2,}rons nous",
    },
    "spanish": {
        "course": r"c[oó]mo .*(?:(?:cambi|desarroll)(?:ado|ó|aron|aban?|ando)|evolucion\w*)"
        r"|evolucion|a lo largo|con el tiempo|(?<!todo )en orden|historial|cronolog\w+",
        "former": r"anterior\w*|(?:mi|tu|su|nuestr[oa]|vuestr[oa])s? antigu[oa]s?|previ[oa]s?"
        r"|antes(?! de)|originalmente|al principio|inicialmente|ya no|solia\w*|antano",
        "earlier": r"antes|primer\w*",
        "now": r"ahora|actual\w*|hoy|en este momento|todavia|aun|sigo|sigue|seguimos",
        "past": r"era[ns]?|fue|fueron|fui|fuiste|di(?:o|j\w+)|vi(?:o|no)|puso|tenia\w*|estaba\w*"
        r"|habia\w*|hacia[ns]?|hubo|hice|hizo|tuv\w+|vivia\w*|daba\w*|decia\w*|venia\w*|llamaba\w*"
        r"|\w{2,}ab(?:a|as|an|amos)|\w{2,}(?:aste|iste|aron|ieron)|(?!café|bebé|aquí|allí|así"
        r"|ahí)\w{3,}[éíó]",
        "ever": r"alguna vez|entre",
        "future": r"(?:voy|vas|va|vamos|vais|van) a \w+(?:ar|er|ir)(?:me|te|se|nos|l[aeo]s?)?"
        r"|(?!a?trás|detrás)\w+r(?:ás|án|á)|(?!quer)\w*(?:[aei]|d)remos"
        r"|(?!(?:(?:ad)?mi|(?:re|es)?ti|gi|(?:re|com|pre|se)?pa|\w*cla|\w*spe|\w*[ou]pe|\w*side)ré)"
        r"\w*(?:[aei]|nd|ld|od|ab)ré",
    },
    "italian": {
        "course": r"come .*(?:cambiat|evolut|sviluppat)\w*|evoluzione|nel tempo|nel corso"
        r"|(?<!tutto )in ordine|cronolog\w+",
        "former": r"precedent\w*|precedenza|in passato|un tempo|originariamente|inizialmente"
        r"|all inizio|(?:mi[oae]|miei|tu[oae]|tuoi|su[oae]|suoi|[nv]ostr[oaei]|loro) vecchi[oae]?"
        r"|(?<!la )(?<!mia )(?<!tua )(?<!sua )prima(?! d)|non .* piu",
        "earlier": r"prim[oaie]",
        "now": r"ora|adesso|attual\w*|al momento|oggi|in questo momento|ancora|ormai|oggigiorno",
        "past": r"era|erano|ero|eri|avev\w+|fu|stava\w*|facev\w+|vivev\w+|abitav\w+|lavorav\w+"
        r"|costav\w+|chiamav\w+"
        r"|(?:ho|hai|ha|abbiamo|avete|hanno)(?: (?!un|il|lo|la)\w+)?"
        r" \w+(?:[aiu]to|tto|iso|isto|eso)",
        "ever": r"mai|tra|fra",
        "future": r"(?!però)\w*[aeidvr]r(?:ò|à|anno|ai|emo)",
    },
    "portuguese": {
        "course": r"como .*(?:mudou|mudaram|mudado|mudando|evolu\w*|alterou|alterado|alteraram"
        r"|desenvolve(?:u|ram)|desenvolvido)|evolucao|ao longo|com o tempo|(?<!tudo )em ordem"
        r"|cronolog\w+",
        "former": r"anterior\w*|(?:meu|minha|teu|tua|seu|sua|noss[oa])s? antig[oa]s?|antes(?! d)"
        r"|originalmente|inicialmente|no inicio|no comeco|outrora|costumava\w*|ja nao|nao .* mais",
        "earlier": r"antes|primeir[oa]s?",
        "now": r"agora|atual\w*|actual\w*|neste momento|no momento|hoje|ainda",
        "past": r"era[ms]?|foi|foram|fui|tinha\w*|estava\w*|havia\w*|fazia\w*|fez|fiz|teve|tive"
        r"|de[iu]|disse\w*|veio|viu|vivia\w*|dizia\w*|\w{2,}ava[ms]?|\w{2,}(?:aste|este|iste|aram"
        r"|eram|iram)|(?!estou)\w{3,}(?:ou|ei)",
        "ever": r"alguma vez|entre",
        "future": r"(?:vou|vais|vai|vamos|vao)"
        r"(?: (?:eu|tu|voce|ele|ela|nos|voces|eles|elas|a gente|me|te|se))? \w+(?:ar|er|ir)"
        r"|(?!a?trás|pará)\w+r(?:ás|á)|(?!verão|barão)\w*[aei]rão|(?!quer)\w*[aei]remos"
        r"|(?!(?:mi|(?:re)?ti|vi|gi|(?:com|pre|se)?pa|\w*cla|\w*spe|\w*[ou]pe|\w*side)rei)"
        r"\w*[aei]rei",
    },
    "russian": {
        "course": r"как .*(?:изменил\w*|меня(?:л\w*|ется|ются)|разви(?:ва)?(?:л\w*|ется|ются))"
        r"|истори[яю]|со временем|по порядку|хронолог\w+|динамик\w+",
        "former": r"раньше|прежн\w+|прежде|бывш\w+|предыдущ\w+|сначала|вначале|изначально"
        r"|первоначально|больше не"
        r"|(?:(?:мо|тво|сво|наш|ваш)\w{0,3}|его|ее|их) стар(?:ыи|ая|ое|ые|ого|ои|ом|ую|ых|ым)",
        "earlier": r"перв\w+|до",
        "now": r"сеичас|теперь|нынешн\w+|текущ\w+|в настоящее время|сегодня|на данныи момент|еще"
        r"|пока",
        "past": r"был[аои]?|\w{3,}(?:ал|ила?|или|ел|яла?|яли)(?:ся)?"
        r"|\w{3,}(?:ала|али|ела|ели)(?:сь)?",
        "ever": r"когда нибудь|между",
        "future": r"буд(?:у|ешь|ет|ем|ете|ут)",
    },
}


def tense_of(query: str) -> Tense | None:
    """Return the tense of a question; None for other texts, and for other questions on the past.

    Examples
    --------
    >>> tense_of("Where do I live?"), tense_of("Where did I live before?")
    ('present', 'past')
    >>> tense_of("How has my rent changed?"), tense_of("When did I move?")
    ('course', None)
    """
    asked = _Asked.of(query)
    if asked is None:
        return None
    if asked.has("course"):
        return "course"
    if asked.has("ever"):
        return None
    past = asked.has("past")
    if asked.has("former") or (past and asked.has("earlier")):
        return "past"
    if past:
        return None
    return "present" if asked.has("now") or asked.text.endswith("? ") else None


def is_future(query: str) -> bool:
    """Tell whether a question is in the future tense.

    Examples
    --------
    >>> is_future("Where will I live in May?"), is_future("Where did Will live in May?")
    (True, False)
    """
    asked = _Asked.of(query)
    return asked is not None and asked.has("future") and not asked.without("future").has("past")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as words and question marks, each with a space around it.

    Attributes
    ----------
    text, plain
        The question in lower case, and without accents.
    languages
        The languages that it may be in.
    """

    text: str
    plain: str
    languages: Sequence[str]

    @classmethod
    def of(cls, query: str) -> _Asked | None:
        """Read the question of a text; None without a question that is short enough."""
        asked = _asked(query)
        if asked is None:
            return None
        text = f" {_SIGNS.sub(' ', asked.lower().replace('?', ' ?')).strip()} "
        languages = _languages(text)
        if "german" in languages:  # there, "was" asks for a thing, also if the text may be English
            text = text.replace(" was ", " ")
        return cls(text, folded(text), languages)

    def has(self, name: str) -> bool:
        """Tell whether a pattern of this name is in the question, in one of its languages."""
        patterns = [_compiled(language, name) for language in self.languages]
        return any(one.search(self.text) or one.search(self.plain) for one in patterns)

    def without(self, name: str) -> _Asked:
        """Return the question without the words of the patterns of this name."""
        text, plain = self.text, self.plain
        for language in self.languages:
            pattern = _compiled(language, name)
            text, plain = pattern.sub("", text), pattern.sub("", plain)
        return _Asked(text, plain, self.languages)


def _asked(query: str) -> str | None:
    """Return the last question of a text, or else its last sentence; None if that is too long.

    Only the end of a long text is read, and a sentence that begins before it is too long.
    """
    end = query.rstrip()[-(MAX_CHARS + 1) :]
    found = list(_SENTENCE.finditer(end))
    if found and found[0].start() == 0 and len(end) > MAX_CHARS:
        del found[0]
    sentences = [one[0] for one in found]
    questions = [one for one in sentences if "?" in one]
    return next(reversed(questions or sentences), None)


@cache
def _compiled(language: str, name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=\s)(?:{_TABLE[language][name]})(?=\s)")


def _languages(text: str) -> list[str]:
    """Return the languages whose function words are the most in a text."""
    words = text.split()
    counts = Counter({name: sum(word in FUNCTION_WORDS[name] for word in words) for name in _TABLE})
    most = max(counts.values())
    return [name for name, count in counts.items() if count == most]
